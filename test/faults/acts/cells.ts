import type { Caller } from '../caller.ts';

/** Share of the commands that are killed, and after how long. */
const KILLED = 0.3;
const MAX_MOVING_MS = 10_000;
/** A move that never succeeds is a finding. */
const MAX_REPEATED_MS = 600_000;

/** The institution moves a client to another cell. A command that was killed or has failed is run again until the client is there. */
export async function moveClient(at: Caller): Promise<void> {
  const { system, lasting, playground, moves, moving, ledger } = at.known;
  const { clientId } = at.random.pick([...lasting, playground]);
  if (system.cells.length === 1 || moving.has(clientId)) return;
  moving.add(clientId);
  try {
    const query = 'select cell from clients where client_id = $1';
    const [home] = (await system.query(query, [clientId]).catch(() => ({ rows: [] }))).rows;
    if (!home) return;
    const from = home.cell as number;
    const to = (from + at.random.whole(1, system.cells.length - 1)) % system.cells.length;
    const began = performance.now();
    while (!ledger.closed) {
      const command = system.command(['cells', 'move-client', clientId, system.cells[to] as string]);
      const kill = at.random.next() < KILLED && at.random.whole(0, MAX_MOVING_MS);
      const timer = kill === false ? undefined : setTimeout(() => command.child.kill('SIGKILL'), kill);
      const { code, signal, stderr } = await command.ended;
      clearTimeout(timer);
      if (code === 0) {
        moves.push({ clientId, from, to });
        return;
      }
      at.known.moveFaults.push(signal ?? stderr.trim());
      if (performance.now() - began > MAX_REPEATED_MS) throw new Error(`${clientId} does not get to ${to}: ${stderr}`);
    }
  } finally {
    moving.delete(clientId);
  }
}
