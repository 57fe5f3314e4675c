import { run } from './cli/index.ts';

process.exitCode = await run(process.argv, async () => (await import('./service.ts')).startService);
