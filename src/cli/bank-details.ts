import { bankTable } from '../beneficiaries/bank-table.ts';
import { readConfig } from '../settings/config.ts';
import { example, type Frame } from './frame.ts';

/** `lombard bank-details`: shows the table that is in force under the settings of the service. */
export function bankDetailsCommand({ program, does }: Frame): void {
  const command = program
    .command('bank-details')
    .description(
      'print which bank details each country and currency needs, as JSON (LOMBARD_BANK_DETAILS replaces it)',
    );
  does(example(command, 'bank-details'), async ({ print }) => {
    const table = bankTable(readConfig().bankDetails);
    print.done(JSON.stringify(table, null, 2), table);
  });
}
