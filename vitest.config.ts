import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'sip/**/*.test.ts',
      'media/**/*.test.ts',
      'packages/**/*.test.ts',
      'scripts/**/*.test.ts',
      'interop/**/*.test.ts',
    ],
    testTimeout: 20_000,
    pool: 'forks',
  },
})
