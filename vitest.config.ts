import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{packages,sims,apps}/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
    // No test mocks modules or globals, so files can share a worker: ten times faster than a worker each.
    pool: 'threads',
    isolate: false,
    testTimeout: 20_000,
  },
});
