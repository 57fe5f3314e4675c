/**
 * Imported before PostGraphile, which reads GRAPHILE_ENV when it is loaded: outside `production` it puts stacks into
 * answers, checks its own plans at every request, and complains on the console.
 */
process.env.GRAPHILE_ENV = 'production';
