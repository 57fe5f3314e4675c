import type { Command } from 'commander';
import type { Beneficiary, BeneficiaryPatch, BeneficiaryQuery, NewBeneficiary } from '../../sdk/src/index.ts';
import {
  type BodyOptions,
  bodyGiven,
  type Fields,
  fieldsGiven,
  PAGING,
  printPage,
  withBody,
  withFields,
  withKey,
  withTrial,
} from './fields.ts';
import { type Call, example, type Frame } from './frame.ts';
import { checkPayees } from './payee-check.ts';
import type { Column } from './printer.ts';
import type { Session } from './session.ts';

/** The filters of the list, under their API names. */
const FILTERS: Fields<keyof BeneficiaryQuery> = {
  name: { about: 'the whole name, in capital or small letters' },
  account_number: { about: 'account number' },
  iban: { about: 'IBAN' },
  bank_identifier: { about: 'sort code, routing number and so on' },
  ...PAGING,
};

/** The fields of a beneficiary, under their API names. */
const PAYEE_FIELDS: Fields<keyof NewBeneficiary> = {
  name: { about: 'who is paid' },
  country_code: { about: 'where the payee is, as GB' },
  bank_country_code: { about: 'where the bank is' },
  bank_currency_code: { about: 'currency of the account, as GBP' },
  account_number: { about: 'account number' },
  iban: { about: 'IBAN' },
  bank_identifier: { about: 'sort code, routing number and so on' },
  swift_code: { about: 'BIC of the bank' },
  correspondent_account: { about: 'account of the bank at its correspondent' },
  correspondent_swift_code: { about: 'BIC of the correspondent' },
  bank_name: { about: 'name of the bank' },
  bank_address_line_1: { about: 'address of the bank' },
  address_line_1: { about: 'address of the payee' },
  city: { about: 'city' },
  state_region: { about: 'state or region' },
  post_code: { about: 'post code' },
  purpose_of_payment: { about: 'purpose of its payments, where the country asks for one' },
  reason_for_trade: { about: 'reason of exchanges for it, where the country asks for one' },
  beneficiary_reference: { about: 'your own reference' },
  reference_information: { about: 'more about the reference' },
  email_notification: { about: 'the institution tells the payee of payments', as: 'flag' },
  email_addresses: { about: 'where it does, comma separated', as: 'list' },
};

const COLUMNS: Column<Beneficiary>[] = [
  ['BENEFICIARY', ({ beneficiary_id: id }) => id],
  ['NAME', ({ name }) => name],
  ['BANK', ({ bank_accounts: [account] }) => account?.bank_country_code],
  ['CURRENCY', ({ bank_accounts: [account] }) => account?.bank_currency_code],
  ['ACCOUNT', ({ bank_accounts: [account] }) => account?.iban ?? account?.account_number],
  ['STATUS', ({ aml_status: status }) => status],
];

/** `lombard beneficiaries`. */
export function beneficiaryCommands(frame: Frame): void {
  const group = frame.program.command('beneficiaries').description('whom the client pays');
  const list = withFields(
    group.command('list').description('list the beneficiaries; the options are filters'),
    FILTERS,
  );
  frame.asContact(
    example(list, 'beneficiaries list --name "Delta Metals"'),
    async ({ options, session: { lombard }, print }) => {
      const query = fieldsGiven(FILTERS, options) as BeneficiaryQuery;
      await printPage(print, lombard.beneficiaries.search(query), query, COLUMNS, 'beneficiaries');
    },
  );
  const show = group.command('show <id>').description('show one beneficiary');
  frame.asContact(example(show, 'beneficiaries show BEN000001'), async ({ args: [id = ''], session, print }) =>
    print.record(await session.lombard.beneficiaries.get(id)),
  );
  addChanges(frame, group);
  const check = group
    .command('check <file>')
    .description('check beneficiaries of a file, JSON (one or a list) or CSV, and make none; - reads standard input');
  example(check, 'beneficiaries check payees.csv', 'beneficiaries check payees.json --json');
  frame.asContact(check, async ({ args: [file = ''], session, print }) =>
    checkPayees(session.lombard, file, PAYEE_FIELDS, print),
  );
}

type Changing = Call<BodyOptions & Record<string, string | boolean | undefined>> & { session: Session };

function addChanges(frame: Frame, group: Command): void {
  const create = withTrial(withKey(withBody(group.command('create').description('make a beneficiary'), PAYEE_FIELDS)));
  example(
    create,
    'beneficiaries create --name "Delta Metals" --country-code GB --bank-country-code GB --bank-currency-code GBP ' +
      '--account-number 55779911 --bank-identifier 200000',
    'beneficiaries create --file payee.json',
  );
  frame.asContact(create, async ({ options, session, print }: Changing) => {
    const body = (await bodyGiven(PAYEE_FIELDS, options)) as NewBeneficiary;
    const { idempotencyKey, validateOnly } = options;
    const made = await session.lombard.beneficiaries.create(body, { idempotencyKey, validateOnly });
    print.done(validateOnly ? 'the beneficiary can be made' : `made beneficiary ${made.beneficiary_id}`, made);
  });
  const update = group
    .command('update <id>')
    .description('change a beneficiary; what is not given stays, and an empty value clears a field');
  example(withTrial(withBody(update, PAYEE_FIELDS)), 'beneficiaries update BEN000001 --bank-name "" --city Leeds');
  frame.asContact(update, async ({ args: [id = ''], options, session, print }: Changing) => {
    const patch = (await bodyGiven(PAYEE_FIELDS, options)) as BeneficiaryPatch;
    const { validateOnly } = options;
    const shown = await session.lombard.beneficiaries.update(id, patch, { validateOnly });
    if (shown) print.done(`beneficiary ${id} can be changed`, shown);
    else print.done(`changed beneficiary ${id}`, { beneficiary_id: id, done: 'changed' });
  });
  const remove = group.command('delete <id>').description('delete a beneficiary; nothing can be paid to it any more');
  frame.asContact(example(remove, 'beneficiaries delete BEN000001'), async ({ args: [id = ''], session, print }) => {
    await session.lombard.beneficiaries.delete(id);
    print.done(`deleted beneficiary ${id}`, { beneficiary_id: id, done: 'deleted' });
  });
}
