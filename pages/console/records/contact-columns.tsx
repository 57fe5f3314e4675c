import type { Answered } from '../../data/operator-api.ts';
import type { Column } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Cut, IdLink, State } from '../lists/links.tsx';
import { useWord } from '../lists/words.ts';

type Contact = Answered<'GET /contacts'>[number];

/** The number of a contact's clients that a row names. */
const SHOWN_CLIENTS = 3;

/** The columns of a list of contacts. */
export function useContactColumns(): Column<Contact>[] {
  const t = useText();
  const word = useWord();
  return [
    { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="contacts" id={row.contact_id} /> },
    { key: 'name', title: t('console.col.name'), cell: ({ name }) => <Cut>{name}</Cut> },
    { key: 'email', title: t('console.col.email'), cell: ({ email }) => <Cut>{email}</Cut> },
    {
      key: 'clients',
      title: t('console.contact.clients'),
      cell: ({ clients }) => (
        <span className="row console-ids">
          {clients.slice(0, SHOWN_CLIENTS).map(({ client_id: id }) => (
            <IdLink key={id} to="clients" id={id} />
          ))}
          {clients.length > SHOWN_CLIENTS && `+${clients.length - SHOWN_CLIENTS}`}
        </span>
      ),
    },
    { key: 'factor', title: t('console.col.secondFactor'), cell: ({ second_factor: factor }) => word(factor) },
    { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
  ];
}
