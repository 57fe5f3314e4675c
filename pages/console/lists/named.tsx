import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { IdLink, type RecordPage } from './links.tsx';

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

/** A client by its name: staff talk about names, and records only have ids. */
export function NamedClient({ id }: { id: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['client', id],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /clients/{client_id}', { path: { client_id: id }, signal })).body,
  });
  return <Named to="clients" id={id} name={data?.client_name} />;
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
