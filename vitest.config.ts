import { defineConfig } from 'vitest/config'

/** Tests that live in real time (sockets with peers, media clocks): alone on the machine, after all others. */
const REAL_TIME = ['interop/**/*.test.ts', '**/*.realtime.test.ts']
const NEVER = ['**/node_modules/**', '**/fixtures/**']

export default defineConfig({
  test: {
    testTimeout: 20_000,
    pool: 'forks',
    // The first test that asks for a database waits for its server to be made.
    hookTimeout: 60_000,
    globalSetup: ['packages/store/src/testing/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{sip,media,packages,control-plane,loadtest,examples,scripts}/**/*.test.ts'],
          exclude: [...NEVER, ...REAL_TIME],
          maxWorkers: '100%',
          // Not 0: that order is not kept where a machine has one worker.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'realtime',
          include: REAL_TIME,
          exclude: NEVER,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
