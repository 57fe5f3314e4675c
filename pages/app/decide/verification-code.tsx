import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { callClient } from '../../data/client-api.ts';
import type { Proof } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Alert } from '../../design/notice.tsx';
import { useRefusal } from '../../design/refusal.ts';
import { Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';

/** A challenge is valid for five minutes. It is reused when the dialog is closed and opened again. */
const KEPT_MS = 270_000;
/** Refusals that the code's own field explains. */
const EXPLAINED = new Set(['step_up_failed', 'challenge_expired', 'step_up_required', 'second_factor_missing']);

/** The verification code of an approval: its challenge, and what the person has typed. */
export interface CodeState {
  /** The proof that is sent with the approval. */
  proof: Proof;
  value: string;
  setValue: (value: string) => void;
  isMissing: boolean;
  secondFactor: 'totp' | 'sms' | undefined;
  isOpening: boolean;
  /** Why no challenge could be opened. */
  error: Error | null;
  /** True if the person has no second factor. */
  isImpossible: boolean;
  renew: () => void;
  forget: () => void;
  /** Whether a code can be sent; if not, the field says that it is missing. */
  check: () => boolean;
  explains: (error: unknown) => boolean;
}

/** What a code is asked for. */
interface Challenged {
  /** The key of its cache entry. */
  key: readonly unknown[];
  open: () => Promise<{ challenge_id: string; second_factor: 'totp' | 'sms' }>;
}

/** The approval of one or several payments. */
export function approvalOf(clientId: string, ids: readonly string[]): Challenged {
  return { key: [clientId, ids], open: () => openChallenge(clientId, ids) };
}

/**
 * Opens a challenge as soon as its dialog is open.
 * @param isNeeded whether the client asks for a code
 */
export function useVerificationCode(challenged: Challenged, isNeeded: boolean): CodeState {
  const queries = useQueryClient();
  const [value, setValue] = useState('');
  const [isMissing, setMissing] = useState(false);
  const key = ['challenge', ...challenged.key];
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: key,
    queryFn: challenged.open,
    enabled: isNeeded,
    staleTime: KEPT_MS,
    gcTime: KEPT_MS,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return {
    proof: { challenge_id: data?.challenge_id, verification_code: value.trim() },
    value,
    setValue,
    isMissing,
    secondFactor: data?.second_factor,
    isOpening: isFetching,
    error,
    isImpossible: error instanceof CallError && error.code === 'second_factor_missing',
    renew: () => {
      setValue('');
      void refetch();
    },
    forget: () => queries.removeQueries({ queryKey: key }),
    check: () => {
      setMissing(value.trim() === '');
      return value.trim() !== '' && data !== undefined;
    },
    explains: (refusal) => isNeeded && refusal instanceof CallError && EXPLAINED.has(refusal.code),
  };
}

/** Opens a challenge for one payment or several: the message to the person says what the code is for. */
async function openChallenge(clientId: string, ids: readonly string[]) {
  const [id = ''] = ids;
  const opened =
    ids.length === 1
      ? callClient('POST /payments/{payment_id}/challenges', clientId, { path: { payment_id: id } })
      : callClient('POST /payments/challenges', clientId, { body: { payment_ids: [...ids] } });
  return (await opened).body;
}

/**
 * The field `Verification code`, and how to get another one.
 * @param refusal of the last try
 * @param count number of payments it covers
 */
export function VerificationCode({
  code,
  refusal,
  count = 1,
}: {
  code: CodeState;
  refusal: unknown;
  count?: number;
}): ReactNode {
  const t = useText();
  const say = useRefusal();
  const refused = (code.error ?? refusal) as unknown;
  const field = useRef<HTMLInputElement>(null);
  const isAsked = code.secondFactor !== undefined && !code.isOpening;
  // The field takes the focus at first, with a new code, and after a wrong one. A person who is already typing a reason is not interrupted.
  useEffect(() => {
    if (isAsked && !(document.activeElement instanceof HTMLTextAreaElement)) field.current?.select();
  }, [isAsked]);
  useEffect(() => {
    if (refusal || code.isMissing) field.current?.select();
  }, [refusal, code.isMissing]);
  const reason = refused instanceof CallError ? refused.code : undefined;
  if (reason === 'second_factor_missing')
    return (
      <Alert>
        <p>{t('decide.code.none')}</p>
        <p>
          <Link to={'/profile' as never}>{t('decide.code.setUp')}</Link>
        </p>
      </Alert>
    );
  const wrong = code.isMissing
    ? t('decide.code.missing')
    : reason === 'step_up_failed'
      ? t('decide.code.wrong')
      : undefined;
  const problem =
    reason === 'challenge_expired'
      ? t('decide.code.expired')
      : code.error && reason === 'rate_limited'
        ? t('decide.code.soon')
        : code.error instanceof CallError
          ? say(code.error) || t('decide.refused.connection')
          : undefined;
  return (
    <div className="stack tight">
      {code.secondFactor === undefined && !code.error ? (
        <Loading rows={1} />
      ) : (
        <TextField
          ref={field}
          label={t('decide.code')}
          name="verification_code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={16}
          hint={t(code.secondFactor === 'sms' ? 'decide.code.sms' : 'decide.code.totp', { count })}
          error={wrong}
          value={code.value}
          onChange={({ target }) => code.setValue(target.value)}
        />
      )}
      {problem && <Alert>{problem}</Alert>}
      {(problem || code.secondFactor === 'sms') && (
        <div>
          <Button kind="quiet" onPress={code.renew} isPending={code.isOpening}>
            {t('decide.code.new')}
          </Button>
        </div>
      )}
    </div>
  );
}
