import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Cut, IdLink, type RecordPage } from './links.tsx';

/** The name of a record, and its id as the link to its page. A name that is not known is left out. */
export function Named({
  to,
  id,
  name,
}: {
  to: RecordPage;
  id: string | null;
  name: string | null | undefined;
}): ReactNode {
  if (id === null) return null;
  return (
    <span className="console-line">
      {name && <ForeignText>{name}</ForeignText>}
      <IdLink to={to} id={id} />
    </span>
  );
}

const clientQuery = (id: string) =>
  queryOptions({
    queryKey: ['client', id],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /clients/{client_id}', { path: { client_id: id }, signal })).body,
  });

/** A client by its name: staff talk about names, and records only have ids. */
export function NamedClient({ id }: { id: string }): ReactNode {
  const { data } = useQuery(clientQuery(id));
  return <Named to="clients" id={id} name={data?.client_name} />;
}

/** Rows of a list ask for the name of a client only once in a while: names seldom change. */
const ROW_STALE_MS = 300_000;

/** A client in a row of a list: its name, cut where there is no room, and its id as the link to its page. */
export function ClientInRow({ id }: { id: string | null }): ReactNode {
  const { data } = useQuery({ ...clientQuery(id ?? ''), enabled: id !== null, staleTime: ROW_STALE_MS });
  if (id === null) return null;
  return (
    <span className="console-line console-whose">
      {data && <Cut>{data.client_name}</Cut>}
      <IdLink to="clients" id={id} />
    </span>
  );
}

/** A contact by its name. */
export function NamedContact({ id }: { id: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['contact', id],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /contacts/{contact_id}', { path: { contact_id: id }, signal })).body,
  });
  return <Named to="contacts" id={id} name={data?.name} />;
}
