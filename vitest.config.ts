import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Children and isolates are real: more files at once only make two cores fight.
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: false,
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: 'tsconfig.test.json' },
  },
})
