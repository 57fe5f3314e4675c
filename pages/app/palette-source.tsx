import { findNamed } from '../data/find.ts';
import { ForeignText } from '../design/foreign-text.tsx';
import { Money } from '../design/money.tsx';
import type { PaletteEntry, PaletteSource } from '../frame/palette-entries.ts';
import { useText } from '../texts/text.tsx';
import { useClientId } from './client.tsx';
import { useFindGroups } from './find-groups.ts';

/** What Ctrl K finds besides the pages: the client's payments and payees. */
export function usePaletteSource(): PaletteSource {
  const t = useText();
  const clientId = useClientId();
  const groupsOf = useFindGroups();
  return {
    scope: clientId ?? '',
    acts: [{ key: 'profile', icon: 'user', title: t('app.nav.profile'), group: t('frame.goTo.pages'), to: '/profile' }],
    find: async (text, signal) => {
      if (clientId === undefined) return [];
      const found = await findNamed(clientId, text, signal);
      const { payments, payees } = found;
      const groups = groupsOf(found);
      return [
        ...payments.map(
          ({ payment_id: id, amount, payment_currency: currency, beneficiary_name: payee }): PaletteEntry => ({
            key: `payment ${id}`,
            icon: 'send',
            title: id,
            detail: (
              <>
                <Money amount={amount} currency={currency} /> · <ForeignText>{payee}</ForeignText>
              </>
            ),
            group: groups.payments,
            to: `/payments/${encodeURIComponent(id)}`,
          }),
        ),
        ...payees.map(
          ({ beneficiary_id: id, beneficiary_name: name, currency, account }): PaletteEntry => ({
            key: `payee ${id}`,
            icon: 'users',
            title: <ForeignText>{name}</ForeignText>,
            detail: (
              <>
                {currency} {account && <ForeignText>{`…${account}`}</ForeignText>} · {t('app.find.payee.payments')}
              </>
            ),
            group: groups.payees,
            to: '/payments',
            search: { beneficiary_id: id },
          }),
        ),
      ];
    },
  };
}
