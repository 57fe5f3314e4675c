import type { ReactNode } from 'react';
import { isSandbox } from '../../data/document.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { Code, More } from '../lists/code.tsx';
import { Records } from '../lists/records.tsx';
import { useMay } from '../staff.ts';
import { ClockPart } from './clock.tsx';
import { FxPart } from './fx.tsx';
import { RatesPart } from './rates.tsx';

/** FX availability and exchange rates. In the sandbox, also the clock, and the mails and texts that no gateway delivers. */
export default function SystemPage(): ReactNode {
  const t = useText();
  const may = useMay();
  return (
    <Page title={t('console.nav.system')}>
      <Part title="console.system.fx">
        <FxPart />
      </Part>
      <Part title="console.system.rates">
        <RatesPart />
      </Part>
      {isSandbox && (
        <Part title="console.system.clock">
          <ClockPart />
        </Part>
      )}
      {isSandbox && may('identity') && (
        <>
          <Part title="console.system.mailbox">
            <Mailbox />
          </Part>
          <Part title="console.system.texts">
            <TextMessages />
          </Part>
        </>
      )}
    </Page>
  );
}

function Part({ title, children }: { title: TextKey; children: ReactNode }): ReactNode {
  const t = useText();
  return (
    <section className="card stack" aria-labelledby={title}>
      <h2 id={title}>{t(title)}</h2>
      {children}
    </section>
  );
}

/** As many as the sandbox keeps in sight: the lists have one page. */
const MESSAGE_ROWS = 25;

function Mailbox(): ReactNode {
  const t = useText();
  return (
    <Records
      name={t('console.system.mailbox')}
      operation="GET /mailbox"
      page={1}
      rows={MESSAGE_ROWS}
      none={t('console.system.mailbox.none')}
      rowKey={(mail) => mail.message_id}
      columns={[
        { key: 'at', title: t('console.col.at'), cell: (mail) => <Moment at={mail.sent_at} /> },
        { key: 'to', title: t('console.system.to'), cell: ({ to }) => <ForeignText>{to}</ForeignText> },
        {
          key: 'subject',
          title: t('console.system.subject'),
          cell: ({ subject }) => <ForeignText>{subject}</ForeignText>,
        },
        {
          key: 'text',
          title: t('console.system.text'),
          cell: ({ text }) => (
            <More>
              <Code name={t('console.system.text')}>{text}</Code>
            </More>
          ),
        },
      ]}
    />
  );
}

function TextMessages(): ReactNode {
  const t = useText();
  return (
    <Records
      name={t('console.system.texts')}
      operation="GET /text-messages"
      page={1}
      rows={MESSAGE_ROWS}
      none={t('console.system.texts.none')}
      rowKey={({ sent_at: at, to, text }) => `${at} ${to} ${text}`}
      columns={[
        { key: 'at', title: t('console.col.at'), cell: (message) => <Moment at={message.sent_at} /> },
        { key: 'to', title: t('console.system.to'), cell: ({ to }) => <ForeignText>{to}</ForeignText> },
        { key: 'text', title: t('console.system.text'), cell: ({ text }) => <ForeignText>{text}</ForeignText> },
      ]}
    />
  );
}
