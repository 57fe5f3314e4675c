import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { callClient } from '../data/client-api.ts';
import { Button } from '../design/button.tsx';
import { Failure, Loading } from '../design/states.tsx';
import { useText } from '../texts/text.tsx';
import './document.css';

interface DocumentProps {
  clientId: string;
  /** pi: payment instruction, pr: payment receipt, tr: trade receipt. */
  kind: 'pi' | 'pr' | 'tr';
  /** The id of the payment or trade. */
  id: string;
  name: string;
}

/** A document that can be viewed on the page and saved. It is fetched only when the person opens it. */
export function DocumentPreview(document: DocumentProps): ReactNode {
  const t = useText();
  const { name } = document;
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="stack tight">
      <div className="row apart">
        <strong>{name}</strong>
        <Button
          kind="quiet"
          aria-expanded={isOpen}
          aria-label={t(isOpen ? 'payments.document.hide' : 'payments.document.preview', { name })}
          onPress={() => setOpen(!isOpen)}
        >
          {t(isOpen ? 'payments.document.less' : 'payments.document.show')}
        </Button>
      </div>
      {isOpen && <Preview {...document} />}
    </div>
  );
}

interface DocumentRowProps {
  clientId: string;
  /** What has the documents, as `Payment PAY000001`. */
  of: string;
  id: string;
  kinds: readonly { kind: DocumentProps['kind']; title: string }[];
  /** What one knows it by, in one line. */
  children: ReactNode;
}

/** A line of a list with a button for each document of what it names. One that is looked at opens below the line. */
export function DocumentRow({ clientId, of, id, kinds, children }: DocumentRowProps): ReactNode {
  const t = useText();
  const [open, setOpen] = useState<DocumentProps['kind']>();
  const shown = kinds.find(({ kind }) => kind === open);
  return (
    <section className="document-row" aria-label={of}>
      <div className="document-line">
        {children}
        <div className="document-kinds">
          {kinds.map(({ kind, title }) => (
            <Button
              key={kind}
              kind="quiet"
              aria-expanded={kind === open}
              aria-label={t(kind === open ? 'payments.document.hide' : 'payments.document.preview', {
                name: `${title} ${id}`,
              })}
              onPress={() => setOpen(kind === open ? undefined : kind)}
            >
              {title}
            </Button>
          ))}
        </div>
      </div>
      {shown && <Preview clientId={clientId} kind={shown.kind} id={id} name={`${shown.title} ${id}`} />}
    </section>
  );
}

/** The document itself: its frame shows bytes that this page has fetched, and no other address. */
function Preview({ clientId, kind, id, name }: DocumentProps): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['document', clientId, kind, id],
    queryFn: async ({ signal }) =>
      (await callClient('GET /documents', clientId, { query: { type: kind, id }, signal })).body,
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (data === undefined) return;
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!url) return <Loading rows={6} />;
  return (
    <>
      <iframe className="document-preview" title={name} src={url} />
      <p className="small">
        <a href={url} download={`${id}-${kind}.pdf`}>
          {t('payments.document.save', { name })}
        </a>
      </p>
    </>
  );
}
