import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { currenciesQuery } from '../../data/currencies.ts';
import { type Beneficiary, needsQuery, type PayeeFields, payeesKey, savePayee, tryPayee } from '../../data/payees.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useLanguage, useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { countryNames, currencyNames } from '../names.ts';
import { ReasonSelect } from '../reason-select.tsx';
import { type AskedField, askedFields, faultsOf, namedCurrencies, sentFields, textsOf } from './payee-fields.ts';

interface PayeeFormProps {
  /** The payee to change; without it, a new one is made. */
  payee?: Beneficiary | undefined;
  onBack: () => void;
  /** Called when it is saved. @param made the new payee, if one was made */
  onDone: (made: Beneficiary | undefined) => void;
}

/** The form of a payee. The bank's country and the currency decide its fields. A field shows its error when the person leaves it. */
export function PayeeForm({ payee, onBack, onDone }: PayeeFormProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const form = useId();
  const { data: needs, error, refetch } = useQuery(needsQuery(clientId));
  const { data: currencies = [] } = useQuery(currenciesQuery(clientId));
  const [before] = useState(() => textsOf(payee));
  const [texts, setTexts] = useState(before);
  const asked = askedFields(needs ?? [], texts.bank_country_code ?? '', texts.bank_currency_code ?? '');
  const fields = sentFields(texts, asked, payee && before);
  const id = payee?.beneficiary_id ?? undefined;
  const act = useAct((key: string) => savePayee({ clientId, id, fields, key }), [payeesKey(clientId)]);
  const { faults, leave, tell, told } = useFaults({ clientId, id, fields }, texts);
  const body = useRef<HTMLFormElement>(null);
  // After a refusal the first field that is wrong has the focus.
  useEffect(() => {
    if (told > 0) body.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [told]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (act.isPending) return;
    act.mutate(crypto.randomUUID(), {
      onSuccess: onDone,
      onError: (refusal) => refusal instanceof CallError && tell(refusal),
    });
  };
  const field = (name: string) => ({
    name,
    value: texts[name] ?? '',
    error: faults.has(name) ? t(faultText(faults.get(name))) : undefined,
    onChange: ({ target }: { target: { value: string } }) =>
      setTexts({ ...texts, ...(payee ? {} : alike(texts, name, target.value)), [name]: target.value }),
    onBlur: () => leave(name),
  });
  const isListed = act.error instanceof CallError && faultsOf(act.error).size > 0;
  return (
    <Dialog
      title={payee ? t('payees.change') : t('payees.new')}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" type="submit" form={form} isPending={act.isPending}>
          {t('payees.save')}
        </Button>
      }
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!needs && !error && <Loading />}
      {needs && (
        <form id={form} ref={body} className="stack" onSubmit={submit} noValidate>
          <TextField {...field('name')} label={t('payees.field.name')} maxLength={140} autoComplete="off" required />
          <Choices
            field={field}
            countries={needs.map(({ country }) => country)}
            currencies={[
              ...currencies.map(({ currency }) => currency),
              ...namedCurrencies(needs),
              ...(before.bank_currency_code ? [before.bank_currency_code] : []),
            ]}
          />
          <Ways ways={asked.ways} />
          {asked.fields.map((each) => (
            <DetailField key={each.name} asked={each} field={field(each.name)} />
          ))}
        </form>
      )}
      {act.error && !isListed && <Failure error={act.error} />}
    </Dialog>
  );
}

/** The part of a field's state that its control uses. */
interface Bound {
  name: string;
  value: string;
  error: string | undefined;
  onChange: (event: { target: { value: string } }) => void;
  onBlur: () => void;
}

/** The countries and the currency, which decide the other fields. */
function Choices({
  field,
  countries,
  currencies,
}: {
  field: (name: string) => Bound;
  countries: string[];
  currencies: string[];
}): ReactNode {
  const t = useText();
  const language = useLanguage();
  const options = countryNames(countries, language);
  const chooser = (name: 'country_code' | 'bank_country_code' | 'bank_currency_code', of: [string, string][]) => (
    <Select {...field(name)} label={t(`payees.field.${name}`)} required>
      <option value="">{t('payees.choose')}</option>
      {of.map(([code, text]) => (
        <option key={code} value={code}>
          {text}
        </option>
      ))}
    </Select>
  );
  return (
    <>
      {chooser('country_code', options)}
      {chooser('bank_country_code', options)}
      {chooser('bank_currency_code', currencyNames(currencies, language))}
    </>
  );
}

/** Says that one of several ways to identify the account is enough. */
function Ways({ ways }: { ways: AskedField[][] }): ReactNode {
  const t = useText();
  if (ways.length === 0) return null;
  const names = ways.map((way) => way.map(({ name, local }) => local ?? t(`payees.field.${name}`)).join(' + '));
  return <p className="quiet">{t('payees.oneOf', { ways: names.join(' / ') })}</p>;
}

function DetailField({ asked: { name, local, isOptional }, field }: { asked: AskedField; field: Bound }): ReactNode {
  const t = useText();
  const said = { label: local ?? t(`payees.field.${name}`), hint: isOptional && t('payees.optional') };
  if (name === 'reason_for_trade') return <ReasonSelect {...field} {...said} />;
  return <TextField {...field} {...said} autoComplete="off" maxLength={255} />;
}

/** What a choice also means for another field: the bank is in the payee's country, until the person chooses another one. */
function alike(texts: PayeeFields, name: string, value: string): PayeeFields {
  const { country_code: country = '', bank_country_code: bank = '' } = texts;
  return name === 'country_code' && (bank === '' || bank === country) ? { bank_country_code: value } : {};
}

/**
 * The errors of the fields that the person has left. The service checks the form each time that a field is left. An error is gone as soon as
 * its field changes: it is about the text that was checked.
 */
function useFaults(given: { clientId: string; id: string | undefined; fields: PayeeFields }, texts: PayeeFields) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [checked, setChecked] = useState({ faults: new Map<string, string>(), texts });
  const [told, setTold] = useState(0);
  const trying = useRef<AbortController>(undefined);
  useEffect(() => () => trying.current?.abort(), []);
  const leave = (name: string) => {
    setLeft(new Set(left).add(name));
    trying.current?.abort();
    const { signal } = (trying.current = new AbortController());
    // A failed check says nothing: saving will report the errors.
    tryPayee(given, signal).then(
      (error) => setChecked({ faults: faultsOf(error), texts }),
      () => undefined,
    );
  };
  const tell = (refusal: CallError) => {
    trying.current?.abort();
    setTold(told + 1);
    setChecked({ faults: faultsOf(refusal), texts });
  };
  const isShown = (name: string) => (told > 0 || left.has(name)) && checked.texts[name] === texts[name];
  return { faults: new Map([...checked.faults].filter(([name]) => isShown(name))), leave, tell, told };
}

const TOLD = [
  ...(['required', 'unknown_field', 'invalid_iban', 'invalid_bic', 'iban_country_mismatch'] as const),
  ...(['bic_country_mismatch', 'invalid_sort_code', 'invalid_aba', 'invalid_clabe', 'invalid_account_number'] as const),
  ...(['invalid_bank_identifier', 'details_disagree', 'invalid_country', 'invalid_currency'] as const),
] as const;

/** What a fault means, in words for the person. */
function faultText(code: string | undefined): TextKey {
  return `fault.${TOLD.find((each) => each === code) ?? 'invalid_format'}`;
}
