import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { FIRST_PORT_SLOT } from './interop/ports.ts'
import { keepCompiled } from './scripts/compile-cache.mjs'
import { REAL_TIME_WORKERS_NAME, realTimeWorkers } from './scripts/test-steps.ts'

/**
 * Tests that compute for many seconds: calls of 40 virtual minutes, statistics over many trials, fuzzing, whole
 * programs. `npm test` runs them; `npm run check` does not: what they prove has quicker tests beside it. They judge no times, and run
 * with a low priority beside all groups but `alone` (scripts/test.ts), whose tests wait for a third of their time and more.
 */
const SLOW = [
  'control-plane/src/{every-operation,projections}.test.ts',
  'control-plane/src/reading/large-drafts.test.ts',
  'loadtest/src/fleet/planted-faults.test.ts',
  'media/src/dtmf/in-band-detector.test.ts',
  'media/src/io/native-media-path.test.ts',
  'media/src/session/{long-call,recording-skew}.test.ts',
  'media/src/srtp/srtp.test.ts',
  'packages/cli/src/services.test.ts',
  'packages/cli/src/examples/suites.test.ts',
  'packages/cli/src/workspace/seed-examples.test.ts',
  'packages/client/build/pack.test.ts',
  'packages/evaluation/src/audio/audio-trial.test.ts',
  'packages/evaluation/src/gate/gate.test.ts',
  'packages/flow/src/**/*.property.test.ts',
  'packages/flow/src/exchange/nothing-in-silence.test.ts',
  'packages/jobs/src/knowledge/knowledge-builder.test.ts',
  'packages/leg/src/long-call.test.ts',
  'packages/phone/src/answering-phone.test.ts',
  'packages/providers/src/**/simulated-pair.test.ts',
  'packages/providers/src/**/*.property.test.ts',
  'packages/runs/src/journal/concurrent-replay.test.ts',
  'packages/runs/src/recordings/recording-kills.test.ts',
  'scripts/benchmarks/{callers/callers,endpointing/endpointing}.test.ts',
  'scripts/fuzzing/fuzz.test.ts',
  'packages/store/src/io/vector-extension.test.ts',
  'scripts/proofs/{api-requests,carriers,native-fuzz,races,replay,silence,srtp-flood}.test.ts',
  'packages/knowledge/src/**/document-files.test.ts',
  'sip/src/message/message.property.test.ts',
  'sip/src/ua/{flood,header-injection,hostile,leaks,lossy}.test.ts',
]
/** Tests that measure milliseconds: each by itself, after all others. */
const ALONE = ['scripts/benchmarks/{media,sip,turn}/*.realtime.test.ts']
/**
 * Tests that live in real time: sockets with peers, media clocks, platforms in processes, which they may share (interop/shared-platform). They
 * wait more than they compute: five run at once, or fewer on a slow machine (scripts/test-steps.ts). Long files begin first and short ones fill
 * the places of those that end, which two groups that follow each other would leave empty.
 */
const REAL_TIME = ['interop/**/*.test.ts', '**/*.realtime.test.ts']
const NEVER = ['**/node_modules/**', '**/fixtures/**']

/**
 * Files that take longest, longest first. They start before the others of their group: a long file that starts last
 * keeps one worker busy while the others have nothing left. Vitest knows durations from its cache only, which a new
 * checkout does not have.
 */
const LONGEST_FIRST = [
  'service-recognisers.test.ts',
  'events.test.ts',
  'trunk-check.test.ts',
  'service-recognisers.faults.test.ts',
  'web-page.test.ts',
  'faults.realtime.test.ts',
  'web-call.test.ts',
  'schemathesis.realtime.test.ts',
  'platform-killed.test.ts',
  'console.test.ts',
  'services.realtime.test.ts',
  'live-updates.realtime.test.ts',
  'demo.test.ts',
  'local-speech.test.ts',
  'service-failures.realtime.test.ts',
  'sipp-timers.test.ts',
  'api.realtime.test.ts',
  'admission.realtime.test.ts',
  'web-livekit.test.ts',
  'journals.realtime.test.ts',
  'platform.test.ts',
  'console-tasks.test.ts',
  'baresip-conversation.test.ts',
  'answers.realtime.test.ts',
  'drain.realtime.test.ts',
  'embedded-postgres.realtime.test.ts',
  'fleet.test.ts',
  'slow-senders.realtime.test.ts',
  'alerts.realtime.test.ts',
  'conversation-audio.test.ts',
  'toll-fraud.realtime.test.ts',
  'speech-to-speech.realtime.test.ts',
  'carrier.test.ts',
  'upgrade.realtime.test.ts',
  'engine-inbound.test.ts',
  'postgres.realtime.test.ts',
  'floods.realtime.test.ts',
  'killed-engine.test.ts',
  'worker.realtime.test.ts',
  'engine-runs.test.ts',
  'media-attacks.realtime.test.ts',
  'leaks.realtime.test.ts',
  'long-call.test.ts',
  'recording-skew.test.ts',
  'seed-examples.test.ts',
  'api-requests.test.ts',
  'in-band-detector.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST_FIRST.indexOf(basename(moduleId))
      return at === -1 ? LONGEST_FIRST.length : at
    }
    const sorted = (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
    const order = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    return sorted.sort((a, b) => order(a) - order(b))
  }
}

/** Unit tests wait for timers, threads and databases half of their time. */
const UNIT_WORKERS = availableParallelism() + 2
const REAL_TIME_WORKERS = Number(process.env[REAL_TIME_WORKERS_NAME] ?? realTimeWorkers(undefined))
const SLOW_WORKERS = 2

// For the processes of the tests, and those that they start.
keepCompiled()

export default defineConfig({
  test: {
    // One process for many files: to load the product's modules anew for each of 800 costs more than most of the tests.
    isolate: false,
    // Ends only what hangs, also on a machine that is ten times slower: no test needs a limit of its own below this.
    testTimeout: 300_000,
    pool: 'forks',
    // Node loads and strips the modules itself, as it does in production, and finds them in its compile cache; to transform
    // and run them by Vite costs several times as much. `vi.mock` does not work so: nothing may need it.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // The first test that asks for a database waits for its server to be made.
    hookTimeout: 300_000,
    // As in `scripts/test-setup.ts`: the default of 1 s is too short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ['scripts/test-setup.ts', 'scripts/test-cpu.ts'],
    globalSetup: ['packages/store/src/testing/global-setup.ts', 'interop/shared-platform/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{sip,media,packages,control-plane,loadtest,examples,console,scripts}/**/*.test.ts'],
          exclude: [...NEVER, ...REAL_TIME, ...SLOW],
          maxWorkers: UNIT_WORKERS,
          // Not 0: that order is not kept where a machine has one worker.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          exclude: NEVER,
          setupFiles: ['scripts/low-priority.ts'],
          maxWorkers: SLOW_WORKERS,
          // Others have priority.
          testTimeout: 1_200_000,
          hookTimeout: 1_200_000,
          // `scripts/test.ts` runs this group by itself, beside the others: its workers are numbered from 1, too.
          env: { [FIRST_PORT_SLOT]: String(realTimeWorkers(undefined)) },
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: 'realtime',
          include: REAL_TIME,
          exclude: [...NEVER, ...ALONE],
          // Whole platforms start and end in these.
          testTimeout: 900_000,
          hookTimeout: 900_000,
          maxWorkers: REAL_TIME_WORKERS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: NEVER,
          isolate: true,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
