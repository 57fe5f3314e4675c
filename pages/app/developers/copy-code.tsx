import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { descriptionQuery, type LoggedRequest } from '../../data/sandbox.ts';
import { Button } from '../../design/button.tsx';
import { CodeBlock } from '../../design/code-block.tsx';
import { Status } from '../../design/notice.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { asCurl, asSdkCode } from './as-code.ts';

interface Copied {
  name: string;
  code: string;
  /** Browsers give pages no clipboard without HTTPS; the code is shown anyway. */
  isTaken: boolean;
}

/** The request as a shell command and as SDK code, to try it again. */
export function CopyCode({ request }: { request: LoggedRequest }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data: description } = useQuery(descriptionQuery);
  const [copied, setCopied] = useState<Copied>();
  const baseUrl = window.location.origin;
  const code = description && asSdkCode(request, { baseUrl, clientId, description });
  const copy = async (name: string, text: string) => {
    const isTaken = await Promise.resolve(navigator.clipboard?.writeText(text)).then(
      () => 'clipboard' in navigator,
      () => false,
    );
    setCopied({ name, code: text, isTaken });
  };
  return (
    <div className="stack tight">
      <div className="row">
        <Button onPress={() => void copy('curl', asCurl(request, baseUrl))}>{t('developers.copy.curl')}</Button>
        {code !== undefined && <Button onPress={() => void copy('SDK', code)}>{t('developers.copy.sdk')}</Button>}
      </div>
      <Status>{copied?.isTaken && t('developers.copied')}</Status>
      {copied && <CodeBlock name={`${copied.name} ${request.request_id}`} text={copied.code} />}
    </div>
  );
}
