import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Badge, Empty, Section } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import type { CaseResult } from './comparison.ts'
import { REFRESH_MS } from './use-test-runs.ts'

type Trial = ResultFrom<'test_runs.trial'>
type Change = NonNullable<Trial['changes']>[number]

/** A trial; again and again until it has ended. Null: no trial. */
export function useTrial(testRunId: string, trialId: string | null) {
  const api = useApi()
  return useQuery({
    queryKey: ['test_runs.trial', testRunId, trialId],
    enabled: trialId !== null,
    queryFn: ({ signal }) => api.testRuns.trial({ params: { test_run_id: testRunId, trial_id: trialId! } }, { signal }),
    refetchInterval: query => {
      const state = query.state.data?.state
      return state === 'completed' || state === 'cancelled' ? false : REFRESH_MS
    },
  })
}

/** What a replay changes, if the test run is one: its only trial then has changes. */
export function ReplaySection({
  testRunId,
  results,
}: {
  readonly testRunId: string
  readonly results: readonly CaseResult[]
}) {
  const { text } = useTexts()
  const trials = results.flatMap(({ trials: all }) => all)
  const trial = useTrial(testRunId, trials.length === 1 ? trials[0]!.trial_id : null).data
  if (trial?.changes == null) return null
  return (
    <Section title={text('replay.changes')}>
      <ReplayChanges trial={trial} />
    </Section>
  )
}

/** The differences between a recorded run and its replay, turn by turn. */
export function ReplayChanges({ trial: { changes, turns } }: { readonly trial: Trial }) {
  const { text, word } = useTexts()
  const simulated = turns?.find(({ source }) => source === 'simulated')
  const columns: readonly Column<Keyed>[] = [
    { header: text('replay.turn'), cell: ({ turn }) => turn, isNumber: true },
    { header: text('testRun.change'), cell: ({ kind }) => <Badge tone="neutral">{word('replayChange', kind)}</Badge> },
    { header: text('replay.before'), cell: ({ before }) => before ?? '–' },
    { header: text('replay.after'), cell: ({ after }) => after ?? '–' },
  ]
  if (changes === null) return null
  return (
    <>
      {simulated !== undefined && <p className="hint">{text('replay.simulatedFrom', { turn: simulated.turn })}</p>}
      {changes.length === 0 ? (
        <Empty>{text('replay.same')}</Empty>
      ) : (
        <Table
          caption={text('replay.changes')}
          columns={columns}
          rows={changes.map((change, index) => ({ ...change, index }))}
          keyOf={({ index }) => String(index)}
        />
      )}
    </>
  )
}

type Keyed = Change & { readonly index: number }
