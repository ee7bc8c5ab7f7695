import type { ResultFrom } from '@parley/client'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { ConfirmButton } from '../operations/confirm-button.tsx'
import { useChange } from '../operations/use-change.ts'
import { Link } from '../router.tsx'
import { Icon } from '../shell/icon.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault, PageHead, Section } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { NewSuite } from './new-suite.tsx'
import { NewTestRun } from './new-test-run.tsx'
import { type TestRun, USD, VerdictBadge } from './test-run-parts.tsx'
import { REFRESH_MS } from './use-test-runs.ts'
import '../styles/evaluation.css'
import { AgentName } from '../runs/agent-name.tsx'

type Suite = ResultFrom<'test_suites.list'>['items'][number]

/** Test runs, and the suites that they execute: simulated callers and what must hold of their conversations. */
export function EvaluationPage() {
  const { text } = useTexts()
  /** The suite that is chosen at first; null: no dialog. */
  const [starting, setStarting] = useState<Pick<Suite, 'suite_id' | 'agent_id'> | 'any' | null>(null)
  return (
    <>
      <PageHead title={text('nav.evaluation')} lead={text('suite.lead')}>
        <button type="button" className="button primary" onClick={() => setStarting('any')}>
          <Icon name="play" />
          {text('testRun.new')}
        </button>
      </PageHead>
      <div className="stack">
        <TestRuns />
        <Suites onStart={setStarting} />
      </div>
      {starting !== null && (
        <NewTestRun suite={starting === 'any' ? null : starting} onClose={() => setStarting(null)} />
      )}
    </>
  )
}

function TestRuns() {
  const api = useApi()
  const { text, word, dateTime, number } = useTexts()
  const columns: readonly Column<TestRun>[] = [
    {
      header: text('testRun.started'),
      cell: run => (
        <Link to={{ page: 'test-run', testRunId: run.test_run_id }} className="agent-link">
          <strong>{dateTime(run.created_at)}</strong>
          <span className="hint">{word('purpose', run.purpose)}</span>
        </Link>
      ),
    },
    {
      header: text('run.agent'),
      cell: run => (
        <>
          <AgentName agentId={run.agent_id} /> · {text('run.versionOf', { version: run.publication.version })}
        </>
      ),
    },
    {
      header: text('testRun.verdict'),
      cell: run => (
        <span className="badges">
          <VerdictBadge verdict={run.verdict} state={run.state} />
          {run.summary !== null && run.summary.regressed > 0 && (
            <Badge tone="bad">{text('testRun.regressedCount', { count: run.summary.regressed })}</Badge>
          )}
        </span>
      ),
    },
    {
      header: text('testRun.passed'),
      cell: run => (run.summary === null ? '–' : `${run.summary.passed} / ${run.summary.cases}`),
      isNumber: true,
    },
    {
      header: text('testRun.trials'),
      cell: ({ progress }) => `${progress.settled} / ${progress.trials}`,
      isNumber: true,
    },
    {
      header: text('usage.cost'),
      cell: ({ cost }) => number(cost.measured_usd ?? cost.estimated_usd, USD),
      isNumber: true,
    },
  ]
  return (
    <Section title={text('testRun.title')}>
      <PagedTable
        caption={text('testRun.title')}
        columns={columns}
        keyOf={run => run.test_run_id}
        queryKey={['test_runs.list']}
        refreshMs={REFRESH_MS * 5}
        load={async (cursor, signal) => {
          const page = await api.testRuns.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('testRun.empty')}
      />
    </Section>
  )
}

function Suites({ onStart }: { readonly onStart: (suite: Suite) => void }) {
  const api = useApi()
  const { text, dateTime } = useTexts()
  const [isCreating, setCreating] = useState(false)
  const remove = useChange(['test_suites.list'], (suite: Suite) =>
    api.testSuites.delete({ params: { suite_id: suite.suite_id }, query: { expected_revision: suite.revision } }),
  )
  const columns: readonly Column<Suite>[] = [
    {
      header: text('agents.name'),
      cell: suite => (
        <Link to={{ page: 'suite', suiteId: suite.suite_id }} className="agent-link">
          <strong>{suite.name}</strong>
        </Link>
      ),
    },
    {
      header: text('run.agent'),
      cell: suite => (suite.agent_id === null ? '–' : <AgentName agentId={suite.agent_id} />),
    },
    { header: text('suite.cases'), cell: suite => suite.case_count, isNumber: true },
    { header: text('suite.revision'), cell: suite => suite.revision, isNumber: true },
    { header: text('secret.changed'), cell: suite => dateTime(suite.updated_at) },
    {
      header: text('version.action'),
      cell: suite => (
        <span className="badges">
          <button type="button" className="button small" onClick={() => onStart(suite)}>
            {text('testRun.run')}
          </button>
          <ConfirmButton label={text('action.delete')} onConfirm={() => remove.mutate(suite)} />
        </span>
      ),
    },
  ]
  return (
    <Section
      title={text('suite.title')}
      actions={
        <button type="button" className="button" onClick={() => setCreating(true)}>
          {text('suite.new')}
        </button>
      }
    >
      {remove.isError && <Fault error={remove.error} />}
      <PagedTable
        caption={text('suite.title')}
        columns={columns}
        keyOf={suite => suite.suite_id}
        queryKey={['test_suites.list']}
        load={async (cursor, signal) => {
          const page = await api.testSuites.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('suite.empty')}
      />
      {isCreating && <NewSuite onClose={() => setCreating(false)} />}
    </Section>
  )
}
