/**
 * Imported before PostGraphile, which reads GRAPHILE_ENV when it is loaded. Outside `production` it puts stacks into answers,
 * checks its own plans at every request, and writes warnings to the console.
 */
// biome-ignore lint/plugin: it is set here, and read by others
process.env.GRAPHILE_ENV = 'production';
