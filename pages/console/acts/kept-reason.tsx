import { createContext, type ReactNode, use, useMemo, useState } from 'react';

interface KeptReason {
  reason: string;
  keep: (reason: string) => void;
}

const KeptReasonContext = createContext<KeptReason>({ reason: '', keep: () => undefined });

/** Several acts that belong together: each one starts with the reason of the previous one. */
export function KeptReasonProvider({ children }: { children: ReactNode }): ReactNode {
  const [reason, keep] = useState('');
  const kept = useMemo(() => ({ reason, keep }), [reason]);
  return <KeptReasonContext value={kept}>{children}</KeptReasonContext>;
}

export function useKeptReason(): KeptReason {
  return use(KeptReasonContext);
}
