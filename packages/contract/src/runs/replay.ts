import { z } from 'zod'
import { operation } from '../operation.ts'
import { testRun } from '../test-runs/test-runs.ts'
import { agentId, uuid, version } from '../values/names.ts'

const replayRun = operation({
  id: 'runs.replay',
  method: 'POST',
  path: '/api/v1/runs/{run_id}/replay',
  summary:
    'Replay an ended run against its own publication, another version or the open draft. Answers with a test run of one case, whose trial lists the turns that change',
  role: 'member',
  idempotency: 'required_header',
  params: z.strictObject({ run_id: uuid }),
  query: null,
  body: z
    .strictObject({
      /** The agent that answers; default that of the run. */
      agent_id: agentId.optional(),
      /** A published version, live or for tests; default that of the run, or the other agent's head. */
      version: version.optional(),
      /** The open draft, which is published for tests first, unless it has not changed since it was published. */
      draft: z.literal(true).optional(),
      /** What follows the first turn that changes: nothing, or a persona that knows what the caller said. */
      after_change: z.enum(['stop', 'simulate']).default('stop'),
    })
    .refine(({ version, draft }) => version === undefined || draft === undefined, {
      path: ['draft'],
      message: 'give version or draft, not both',
    }),
  output: testRun,
  statuses: [202],
  refusals: {
    not_found: [],
    conflict: ['agent_archived', 'agent_not_published', 'stale_revision', 'in_progress', 'inputs_missing', 'redacted'],
    publication_invalid: ['invalid_draft'],
  },
})

export const replayOperations = [replayRun] as const
