/**
 * How much longer than the tab that asked last this one waits before it asks itself. Tabs of a browser tell each other what the service
 * has answered, so that one of them asks and not each. No two wait equally long: they would ask at the same time for ever.
 */
export const PATIENCE_MS = 500 + Math.random() * 1_000;
