import { type ReactNode, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Alert, Status } from '../../design/notice.tsx';
import { QrCode } from '../../design/qr-code.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Steps } from '../../design/steps.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Buttons } from './buttons.tsx';
import { Charts } from './charts.tsx';
import { Colours } from './colours.tsx';
import { Fields } from './fields.tsx';
import { Sample } from './sample.tsx';
import { SteadyTables, Tables } from './tables.tsx';

/** What a payee might write to deceive: a change of writing direction, a line break, markup. */
const HOSTILE = 'ACME\u202eDTL\n<b>Ltd</b>';

/** Every component in every state, for page developers. Its sample texts are not translated; texts of the pages themselves are. */
export default function ComponentsPage(): ReactNode {
  const t = useText();
  return (
    <Page title={t('app.components')}>
      <Colours />
      <Buttons />
      <Fields />
      <Sample name="Dialog">
        <DialogSample />
      </Sample>
      <Tables />
      <SteadyTables />
      <Charts />
      <Sample name="Tabs">
        <TabsSample />
      </Sample>
      <Sample name="Badge">
        <div className="row">
          {(['neutral', 'good', 'warn', 'bad', 'info'] as const).map((tone) => (
            <Badge key={tone} tone={tone}>
              {tone}
            </Badge>
          ))}
        </div>
      </Sample>
      <Sample name="Money, Moment, Day, ForeignText, Iban, Facts">
        <Facts
          facts={[
            { name: 'EUR', value: <Money amount="1234567.5" currency="EUR" /> },
            { name: 'JPY', value: <Money amount="1200" currency="JPY" /> },
            { name: 'KWD', value: <Money amount="12345678901234567.891" currency="KWD" /> },
            { name: 'GBP', value: <Money amount="0.005" currency="GBP" /> },
            { name: 'Moment', value: <Moment at="2026-07-01T09:30:00Z" /> },
            { name: 'Day', value: <Day on="2026-07-01" /> },
            { name: 'ForeignText', value: <ForeignText>{HOSTILE}</ForeignText> },
            { name: 'Iban', value: <Iban>DE89370400440532013000</Iban> },
            { name: 'Nothing', value: null },
          ]}
        />
      </Sample>
      <Sample name="Steps">
        <Steps
          name="Steps"
          steps={[
            { title: 'Created', state: 'done', detail: <Moment at="2026-07-01T09:30:00Z" /> },
            { title: 'Approved', state: 'now', detail: '1 / 2' },
            { title: 'Sent', state: 'later' },
            { title: 'Returned', state: 'failed', detail: 'AC04' },
          ]}
        />
      </Sample>
      <Sample name="Alert, Status">
        <Alert>Alert</Alert>
        {(['good', 'info', 'warn'] as const).map((tone) => (
          <Status key={tone} tone={tone}>
            Status: {tone}
          </Status>
        ))}
      </Sample>
      <Sample name="Empty, Loading, Failure">
        <Empty title="Empty">…</Empty>
        <Loading rows={2} />
        <Failure error={new CallError(0, { code: 'connection_lost' })} onRetry={() => undefined} />
        <Failure error={new CallError(404, { details: 'payment_id: does not exist' })} />
        <Failure error={new CallError(403, { code: 'permission_denied' })} />
      </Sample>
      <Sample name="QrCode">
        <QrCode text="otpauth://totp/Lombard" name="QrCode" />
      </Sample>
    </Page>
  );
}

function DialogSample(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <div>
      <Button onPress={() => setOpen(true)}>Dialog</Button>
      <Dialog
        title="Dialog"
        isOpen={isOpen}
        onBack={close}
        action={
          <Button kind="primary" onPress={close}>
            Approve payment
          </Button>
        }
      >
        <Facts facts={[{ name: 'Amount', value: <Money amount="1234.5" currency="EUR" /> }]} />
      </Dialog>
    </div>
  );
}

function TabsSample(): ReactNode {
  const [selected, select] = useState('one');
  return (
    <Tabs
      name="Tabs"
      selected={selected}
      onSelect={select}
      tabs={[
        { id: 'one', title: 'One', count: 3, content: () => 'One' },
        { id: 'two', title: 'Two', content: () => 'Two' },
      ]}
    />
  );
}
