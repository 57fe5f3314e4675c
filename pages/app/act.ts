import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { CallError } from '../data/call-error.ts';
import { refreshSession } from '../data/session.ts';

/**
 * A change that the person requests. The data it concerns is read again afterwards. A refusal may mean that the person lost a permission or
 * the client while the page was open. The page then asks for the current permissions, and hides what is no longer allowed.
 * @param refreshed keys of the queries that show what it changes
 */
export function useAct<Given = void, Result = unknown>(
  work: (given: Given) => Promise<Result>,
  refreshed: QueryKey[] = [],
): UseMutationResult<Result, Error, Given> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: work,
    onSettled: async (_result, error) => {
      const refused = error instanceof CallError && (error.status === 403 || error.status === 404);
      await Promise.all([
        ...refreshed.map((queryKey) => queries.invalidateQueries({ queryKey })),
        ...(refused ? [refreshSession()] : []),
      ]);
    },
  });
}
