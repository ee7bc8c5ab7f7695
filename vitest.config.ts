import { defineConfig } from 'vitest/config'

/**
 * Tests that start whole platforms and judge what becomes of calls, runs and requests: they wait more than they compute,
 * so that a few run at once.
 */
const WHOLE = [
  'interop/{demo,serve-call,serve-restart,text-runs,killed-engine,engine-runs,sipp-timers}.test.ts',
  'scripts/proofs/{admission,drain,faults,idempotency,journals,live-updates,schemathesis,toll-fraud}.realtime.test.ts',
  'control-plane/**/*.realtime.test.ts',
  'packages/{store,runs,jobs}/**/*.realtime.test.ts',
]
/** Tests that measure, or take all of the machine: each by itself, after all others. */
const ALONE = [
  'interop/{hostile-signalling,rogue-peers}.test.ts',
  'scripts/benchmarks/**/*.realtime.test.ts',
  'scripts/proofs/{floods,leaks,media-attacks,scanners,slow-senders}.realtime.test.ts',
]
/** Tests that live in real time (sockets with peers, media clocks). The others keep a core half busy, so that two run at once. */
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
          // To load the rooms anew for each of 400 files costs more than the tests themselves.
          isolate: false,
          // Not 0: that order is not kept where a machine has one worker.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: WHOLE,
          exclude: NEVER,
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'realtime',
          include: REAL_TIME,
          exclude: [...NEVER, ...WHOLE, ...ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: NEVER,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
