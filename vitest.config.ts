import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'

const require = createRequire(import.meta.url)

export default defineConfig({
  // Vite would load the ESM copy of graphql beside the CommonJS copy that Apollo loads, and a schema
  // of one copy does not execute in the other.
  resolve: { alias: [{ find: /^graphql$/, replacement: require.resolve('graphql') }] },
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/postgres.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    // Tests share no state, so that the files of a process can share what they import.
    isolate: false,
  },
})
