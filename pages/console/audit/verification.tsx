import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { Button } from '../../design/button.tsx';
import { visible } from '../../design/foreign-text.tsx';
import { Alert, Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';

/** Verifies the chain of the audit trail on request. */
export function Verification(): ReactNode {
  const t = useText();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async () => (await callOperator('GET /audit/verify', {})).body,
  });
  return (
    <section className="stack">
      <div className="row">
        <Button kind="primary" isPending={isPending} onPress={() => mutate()}>
          {t('console.audit.verify')}
        </Button>
        {isPending && t('console.audit.verifying')}
      </div>
      <Status>{data?.valid ? t('console.audit.valid', { rows: data.rows }) : undefined}</Status>
      {data && !data.valid && (
        <Alert>
          <p>
            <strong>{t('console.audit.invalid')}</strong>
          </p>
          <p>{visible(data.fault?.message ?? '')}</p>
        </Alert>
      )}
      {error && <Failure error={error} />}
    </section>
  );
}
