/**
 * How much longer this tab waits to poll than the tab that polled last (milliseconds). Tabs share the service's answers, so that only one
 * of them polls. Each tab waits a different time; otherwise they would all poll at the same moment for ever.
 */
export const PATIENCE_MS = 500 + Math.random() * 1_000;
