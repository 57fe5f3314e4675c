import { CommandFailure } from './failure.ts';

/** As fetch. @throws CommandFailure where nothing answers */
export async function reach(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    const why = code === 'ECONNREFUSED' ? 'nothing listens there; is the service running?' : (code ?? 'no answer');
    throw new CommandFailure(`cannot reach ${new URL(url).origin}: ${why}`);
  }
}
