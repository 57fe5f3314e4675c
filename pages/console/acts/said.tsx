import { useRouterState } from '@tanstack/react-router';
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { Status } from '../../design/notice.tsx';

interface Voice {
  said: string | undefined;
  say: (text: string) => void;
}

const VoiceContext = createContext<Voice>({ said: undefined, say: () => undefined });

/** Keeps the result of the last act until the person opens another page. */
export function SaidProvider({ children }: { children: ReactNode }): ReactNode {
  const [said, say] = useState<string>();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the message does not concern another page
  useEffect(() => say(undefined), [path]);
  const voice = useMemo(() => ({ said, say }), [said]);
  return <VoiceContext value={voice}>{children}</VoiceContext>;
}

/** The result of the last act. */
export function Said(): ReactNode {
  return <Status>{use(VoiceContext).said}</Status>;
}

/** Shows the result of an act at the top of the page. */
export function useSay(): (text: string) => void {
  return use(VoiceContext).say;
}
