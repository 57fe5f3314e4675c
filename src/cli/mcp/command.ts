import { example, type Frame } from '../frame.ts';

/** `lombard mcp`. Only this command loads the protocol's package, so others start without it. */
export function mcpCommand(frame: Frame): void {
  const command = frame.program
    .command('mcp')
    .description(
      'serve the reading operations to an assistant (Model Context Protocol, over standard input and output)',
    );
  frame.asContact(example(command, 'mcp', '--profile live mcp'), async ({ session }) => {
    const { serveTools } = await import('./server.ts');
    await serveTools(session);
  });
}
