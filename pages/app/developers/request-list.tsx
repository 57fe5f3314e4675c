import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { type LoggedRequest, requestsQuery } from '../../data/sandbox.ts';
import { Badge } from '../../design/badge.tsx';
import { CodeBlock } from '../../design/code-block.tsx';
import { Facts } from '../../design/facts.tsx';
import { Checkbox, Select } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Empty } from '../../design/states.tsx';
import { useSteadyRows } from '../../design/steady-rows.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import { CopyCode } from './copy-code.tsx';

const PAGE_ROWS = 20;
const STATUSES = ['2xx', '4xx', '5xx'];

/** A program may give several requests the same id. */
const keyOf = ({ request_id: id, at }: LoggedRequest) => `${id} ${at}`;

/** The requests of the client's programs, with the code and details of each refusal. */
export function RequestList(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [wanted, setWanted] = useState({ status: '', pages: false, page: 1, page_size: PAGE_ROWS });
  const found = useQuery(requestsQuery(clientId, wanted));
  const scope = JSON.stringify([wanted, found.isPlaceholderData]);
  const { rows, holders } = useSteadyRows(found.data?.rows ?? [], { keyOf, scope });
  return (
    <section className="card stack" aria-label={t('developers.requests')}>
      <h2>{t('developers.requests')}</h2>
      <div className="fields ends">
        <Select
          label={t('developers.status')}
          name="status"
          value={wanted.status}
          onChange={({ target }) => setWanted({ ...wanted, status: target.value, page: 1 })}
        >
          <option value="">{t('developers.all')}</option>
          {STATUSES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
        <Checkbox
          label={t('developers.pages')}
          name="pages"
          checked={wanted.pages}
          onChange={({ target }) => setWanted({ ...wanted, pages: target.checked, page: 1 })}
        />
      </div>
      <PagedList found={found} page={wanted.page} size={PAGE_ROWS} onPage={(page) => setWanted({ ...wanted, page })}>
        {() => (
          <div {...holders}>
            {rows.length === 0 ? (
              <Empty title={t('developers.none')}>{t('developers.none.text')}</Empty>
            ) : (
              <ul className="requests">
                {rows.map(({ row }) => (
                  <RequestItem key={keyOf(row)} request={row} />
                ))}
              </ul>
            )}
          </div>
        )}
      </PagedList>
    </section>
  );
}

function RequestItem({ request }: { request: LoggedRequest }): ReactNode {
  const details = useId();
  const [isOpen, setOpen] = useState(false);
  const { at, method, path, status, code, details: why } = request;
  return (
    <li>
      <div className="row apart">
        <button
          type="button"
          className="request-name"
          aria-expanded={isOpen}
          aria-controls={details}
          onClick={() => setOpen(!isOpen)}
        >
          <strong>{method}</strong> <ForeignText>{path}</ForeignText>
        </button>
        <span className="row">
          {code !== null && <code>{code}</code>}
          <Badge tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Badge>
          <span className="small quiet">
            <Moment at={at} />
          </span>
        </span>
      </div>
      {why !== null && (
        <p className="small">
          <ForeignText>{why}</ForeignText>
        </p>
      )}
      <div id={details}>{isOpen && <RequestDetails request={request} />}</div>
    </li>
  );
}

function RequestDetails({ request }: { request: LoggedRequest }): ReactNode {
  const t = useText();
  const { ms, request_id: id, application, request_body: sent, response_body: answered } = request;
  return (
    <div className="stack request-details">
      <Facts
        facts={[
          { name: t('developers.request.id'), value: <ForeignText>{id}</ForeignText> },
          { name: t('developers.application'), value: <ForeignText>{application}</ForeignText> },
          { name: t('developers.took'), value: t('webhooks.ms', { ms }) },
        ]}
      />
      <CopyCode request={request} />
      {sent !== null && sent !== '' && (
        <div className="stack tight">
          <h3>{t('developers.sent')}</h3>
          <CodeBlock name={`${t('developers.sent')} ${id}`} text={sent} />
        </div>
      )}
      {answered !== null && answered !== '' && (
        <div className="stack tight">
          <h3>{t('developers.answered')}</h3>
          <CodeBlock name={`${t('developers.answered')} ${id}`} text={answered} />
        </div>
      )}
    </div>
  );
}
