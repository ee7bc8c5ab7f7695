import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { ConfirmButton } from '../operations/confirm-button.tsx'
import { useChange } from '../operations/use-change.ts'
import { GatePanel } from '../release/gate-panel.tsx'
import { Link, useSearch } from '../router.tsx'
import { CheckField, SelectField } from '../ui/fields.tsx'
import { Badge, Empty, Facts, Fault, Loading, PageHead, Section } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { type CaseResult, changeCounts, compared, idOf } from './comparison.ts'
import { useBaselineNames } from './new-test-run.tsx'
import { ReplaySection } from './replay-changes.tsx'
import { CHANGE_TONES, isFinished, type TestRun, USD, VerdictBadge } from './test-run-parts.tsx'
import { TrialDialog } from './trial-dialog.tsx'
import { useBaselines, useResults, useTestRun } from './use-test-runs.ts'
import '../styles/evaluation.css'
import '../styles/run.css'
import { AgentName } from '../runs/agent-name.tsx'

/** One test run: its progress, and its results beside those of a baseline. */
export function TestRunPage({ testRunId }: { readonly testRunId: string }) {
  const { text, word, dateTime, number } = useTexts()
  const [search, setSearch] = useSearch()
  const found = useTestRun(testRunId)
  const results = useResults(found.data ?? null)
  if (found.isPending) return <Loading />
  if (found.isError) return <Fault error={found.error} />
  const run = found.data
  const trialId = search.get('trial')
  const openTrial = (id: string | null) => {
    const next = new URLSearchParams(search)
    if (id === null) next.delete('trial')
    else next.set('trial', id)
    setSearch(next)
  }
  return (
    <>
      <PageHead
        title={
          <span className="run-title">
            {text('testRun.one')} <VerdictBadge verdict={run.verdict} state={run.state} />
          </span>
        }
        lead={
          <>
            <Link to={{ page: 'agent', agentId: run.agent_id, tab: 'flow' }}>
              <AgentName agentId={run.agent_id} />
            </Link>{' '}
            {text('run.versionOf', { version: run.publication.version })} · {dateTime(run.created_at)} ·{' '}
            {word('purpose', run.purpose)}
          </>
        }
      >
        <Cancel run={run} />
      </PageHead>
      <div className="stack">
        <Section title={text('run.facts')}>
          <Progress run={run} />
          <Facts
            rows={[
              [text('testRun.passed'), run.summary === null ? null : `${run.summary.passed} / ${run.summary.cases}`],
              [text('testRun.flaky'), run.summary === null ? null : number(run.summary.flaky_passed)],
              [text('testRun.regressed'), run.summary === null ? null : number(run.summary.regressed)],
              [text('testRun.fixed'), run.summary === null ? null : number(run.summary.fixed)],
              [text('testRun.guardEvents'), run.summary === null ? null : number(run.summary.guard_events)],
              [text('testRun.estimatedCost'), number(run.cost.estimated_usd, USD)],
              [text('usage.cost'), run.cost.measured_usd === null ? null : number(run.cost.measured_usd, USD)],
              [text('testRun.judge'), run.judge_model?.model_id ?? null],
            ]}
          />
        </Section>
        {run.purpose === 'publish_gate' && (
          <Section title={text('gate.title')}>
            <GatePanel agentId={run.agent_id} version={run.publication.version} />
          </Section>
        )}
        {results.data !== undefined && <ReplaySection testRunId={testRunId} results={results.data} />}
        <Results run={run} onTrial={openTrial} />
      </div>
      {trialId !== null && <TrialDialog testRunId={testRunId} trialId={trialId} onClose={() => openTrial(null)} />}
    </>
  )
}

function Cancel({ run }: { readonly run: TestRun }) {
  const api = useApi()
  const { text } = useTexts()
  const cancel = useChange(['test_runs.get', run.test_run_id], () =>
    api.testRuns.cancel({ params: { test_run_id: run.test_run_id }, body: {} }),
  )
  if (isFinished(run)) return null
  return (
    <>
      <ConfirmButton
        label={text('testRun.cancel')}
        disabled={cancel.isPending}
        onConfirm={() => cancel.mutate(undefined)}
      />
      {cancel.isError && <Fault error={cancel.error} />}
    </>
  )
}

function Progress({ run: { progress, state } }: { readonly run: TestRun }) {
  const { text } = useTexts()
  const said = text('testRun.progress', { settled: progress.settled, trials: progress.trials })
  return (
    <p className="spaced test-progress" role="status">
      {state !== 'completed' && (
        <progress value={progress.settled} max={Math.max(1, progress.trials)} aria-label={said} />
      )}
      <span>{said}</span>
    </p>
  )
}

interface ResultsProps {
  readonly run: TestRun
  readonly onTrial: (trialId: string) => void
}

function Results({ run, onTrial }: ResultsProps) {
  const { text } = useTexts()
  const [baselineId, setBaseline] = useState(run.baseline_test_run_id ?? '')
  const [onlyFaults, setOnlyFaults] = useState(false)
  const baselines = useBaselines(run.agent_id)
  const others = (baselines.data?.items ?? []).filter(({ test_run_id }) => test_run_id !== run.test_run_id)
  const names = useBaselineNames(others)
  const results = useResults(run)
  const baseline = useResults(baselineId === '' ? null : { test_run_id: baselineId, state: 'completed' })
  const isCompared = baselineId !== '' && baseline.data !== undefined
  const cases = compared(results.data ?? [], isCompared ? baseline.data : [])
  const counts = changeCounts(cases)
  const known = names.some(([id]) => id === baselineId) || baselineId === ''
  return (
    <Section
      title={text('testRun.results')}
      actions={
        isCompared ? (
          <span className="badges" role="status">
            {(['regressed', 'fixed', 'new'] as const)
              .filter(change => counts[change] > 0)
              .map(change => (
                <Badge key={change} tone={CHANGE_TONES[change]}>
                  {text(`testRun.${change}Count`, { count: counts[change] })}
                </Badge>
              ))}
          </span>
        ) : undefined
      }
    >
      <div className="test-filters">
        <SelectField
          label={text('testRun.baseline')}
          value={baselineId}
          data-filter
          onChange={event => setBaseline(event.target.value)}
          choices={[['', text('testRun.noBaseline')], ...names, ...(known ? [] : [[baselineId, baselineId] as const])]}
        />
        <CheckField
          label={text('testRun.onlyFaults')}
          checked={onlyFaults}
          onChange={event => setOnlyFaults(event.target.checked)}
        />
      </div>
      {results.isPending && <Loading />}
      {results.isError && <Fault error={results.error} />}
      {baseline.isError && <Fault error={baseline.error} />}
      {results.data !== undefined && (
        <ResultTable
          cases={onlyFaults ? cases.filter(({ result }) => result.verdict !== 'passed') : cases}
          isCompared={isCompared}
          onTrial={onTrial}
        />
      )}
    </Section>
  )
}

type Row = ReturnType<typeof compared<CaseResult>>[number]

interface ResultTableProps {
  readonly cases: readonly Row[]
  readonly isCompared: boolean
  readonly onTrial: (trialId: string) => void
}

function ResultTable({ cases, isCompared, onTrial }: ResultTableProps) {
  const { text, word } = useTexts()
  const columns: readonly Column<Row>[] = [
    {
      header: text('testRun.case'),
      cell: ({ result }) => (
        <>
          <strong>{result.name}</strong> {result.blocking && <Badge tone="warn">{text('suite.blocking')}</Badge>}
          {result.fault !== null && <p className="hint">{result.fault}</p>}
        </>
      ),
    },
    {
      header: text('testRun.verdict'),
      cell: ({ result }) => (
        <span className="badges">
          <VerdictBadge verdict={result.verdict} />
          {result.flaky && <Badge tone="warn">{text('testRun.flaky')}</Badge>}
        </span>
      ),
    },
  ]
  const beside: readonly Column<Row>[] = [
    { header: text('testRun.baseline'), cell: ({ other }) => <VerdictBadge verdict={other?.verdict ?? null} /> },
    {
      header: text('testRun.change'),
      cell: ({ change }) =>
        change === null ? '–' : <Badge tone={CHANGE_TONES[change]}>{word('testChange', change)}</Badge>,
    },
  ]
  const trials: Column<Row> = {
    header: text('testRun.trials'),
    cell: ({ result }) => (
      <span className="trials">
        {result.trials.map(trial => (
          <button
            key={trial.trial_id}
            type="button"
            className="link"
            title={trial.failed_assertions.join(', ')}
            onClick={() => onTrial(trial.trial_id)}
          >
            <span className="hidden">{text('testRun.trial')}</span> {trial.trial}
            <VerdictBadge verdict={trial.verdict} state={trial.state} />
          </button>
        ))}
      </span>
    ),
  }
  if (cases.length === 0) return <Empty>{text('testRun.noCases')}</Empty>
  return (
    <Table
      caption={text('testRun.results')}
      columns={isCompared ? [...columns, ...beside, trials] : [...columns, trials]}
      rows={cases}
      keyOf={({ result }) => idOf(result)}
    />
  )
}
