import type { RequestTo, ResultFrom } from '@parley/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { useChange } from '../operations/use-change.ts'
import { navigate } from '../router.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { Empty, Facts, Fault } from '../ui/parts.tsx'
import { SuiteChoice } from './suite-choice.tsx'
import { USD } from './test-run-parts.tsx'
import { useBaselines } from './use-test-runs.ts'

type Creation = RequestTo<'test_runs.create'>['body']

interface NewTestRunProps {
  /** Chosen at first, with its agent; null: none. */
  readonly suite: Pick<ResultFrom<'test_suites.list'>['items'][number], 'suite_id' | 'agent_id'> | null
  readonly onClose: () => void
}

/** Chooses version, suites and baseline of a test run, shows what it will take, and starts it. */
export function NewTestRun({ suite, onClose }: NewTestRunProps) {
  const api = useApi()
  const { text } = useTexts()
  const [agentId, setAgent] = useState(suite?.agent_id ?? '')
  const [version, setVersion] = useState('')
  const [suiteIds, setSuites] = useState<readonly string[]>(suite === null ? [] : [suite.suite_id])
  const [trials, setTrials] = useState('')
  const [baseline, setBaseline] = useState('')
  const { agents, versions } = useChoices(agentId)
  const baselines = useBaselines(agentId)
  const published = versions.data?.items ?? []
  const chosen = published.find(({ ref }) => String(ref.version) === version) ?? published[0]
  const body: Creation | null =
    chosen === undefined || suiteIds.length === 0
      ? null
      : {
          agent_id: agentId,
          version: chosen.ref.version,
          suite_ids: [...suiteIds],
          ...(trials !== '' && { trials: Number(trials) }),
        }
  const start = useChange(['test_runs.list'], (creation: Creation) =>
    api.testRuns.create({
      body: { ...creation, ...(baseline !== '' && { baseline_test_run_id: baseline }) },
    }),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (body === null) return
    await start.mutateAsync(body).then(
      ({ test_run_id }) => navigate({ page: 'test-run', testRunId: test_run_id }),
      () => {},
    )
  }
  return (
    <Dialog title={text('testRun.new')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <SelectField
          label={text('run.agent')}
          value={agentId}
          required
          onChange={event => {
            setAgent(event.target.value)
            setVersion('')
            setBaseline('')
          }}
          choices={[['', '–'], ...(agents.data?.agents.map(({ ref, name }) => [ref.id, name] as const) ?? [])]}
        />
        {agentId !== '' && (
          <SelectField
            label={text('version.version')}
            value={version}
            onChange={event => setVersion(event.target.value)}
            choices={published.map(one => [String(one.ref.version), versionName(one, text)] as const)}
          />
        )}
        {agentId !== '' && versions.data?.items.length === 0 && <Empty>{text('agent.notPublished')}</Empty>}
        <SuiteChoice chosen={suiteIds} onChange={setSuites} />
        <TextField
          label={text('testRun.trialsPerCase')}
          hint={text('testRun.trialsHint')}
          type="number"
          min={1}
          max={10}
          value={trials}
          onChange={event => setTrials(event.target.value)}
        />
        <SelectField
          label={text('testRun.baseline')}
          value={baseline}
          onChange={event => setBaseline(event.target.value)}
          choices={[['', text('testRun.noBaseline')], ...useBaselineNames(baselines.data?.items ?? [])]}
        />
        {agents.isError && <Fault error={agents.error} />}
        {body !== null && <Estimate key={JSON.stringify(body)} body={body} />}
        <FormActions
          label={text('testRun.start')}
          isPending={start.isPending}
          isIncomplete={body === null}
          error={start.error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

type Publication = ResultFrom<'publications.list'>['items'][number]

function versionName({ ref, is_head, test }: Publication, text: ReturnType<typeof useTexts>['text']): string {
  const marks = [is_head ? text('version.live') : '', test ? text('run.test') : ''].filter(mark => mark !== '')
  return [String(ref.version), ...marks].join(' · ')
}

/** The names of test runs in a list of choices. */
export function useBaselineNames(
  testRuns: readonly ResultFrom<'test_runs.get'>[],
): readonly (readonly [id: string, name: string])[] {
  const { text, word, dateTime } = useTexts()
  return testRuns.map(run => [
    run.test_run_id,
    `${dateTime(run.created_at)} · ${text('run.versionOf', { version: run.publication.version })} · ${word('verdict', run.verdict ?? '')}`,
  ])
}

function useChoices(agentId: string) {
  const api = useApi()
  const agents = useQuery({
    queryKey: ['agents.list', 'names'],
    queryFn: ({ signal }) => api.agents.list({ query: { limit: 200, sort: 'name_asc' } }, { signal }),
  })
  const versions = useQuery({
    queryKey: ['publications.list', agentId, 'names'],
    enabled: agentId !== '',
    queryFn: ({ signal }) =>
      api.publications.list({ params: { agent_id: agentId }, query: { limit: 100 } }, { signal }),
  })
  return { agents, versions }
}

/** What a test run will take, read when it is asked for. */
function Estimate({ body }: { readonly body: Creation }) {
  const api = useApi()
  const { text, number } = useTexts()
  const estimate = useMutation({ mutationFn: () => api.testRuns.estimate({ body }) })
  return (
    <div role="status">
      {estimate.data === undefined ? (
        <button type="button" className="button" disabled={estimate.isPending} onClick={() => estimate.mutate()}>
          {text('testRun.estimate')}
        </button>
      ) : (
        <Facts
          rows={[
            [text('suite.cases'), number(estimate.data.cases)],
            [text('testRun.trials'), number(estimate.data.trials)],
            [text('testRun.estimatedCost'), number(estimate.data.estimated_usd, USD)],
            [text('testRun.minutes'), number(estimate.data.estimated_minutes, { maximumFractionDigits: 1 })],
          ]}
        />
      )}
      {estimate.data?.warnings.map(({ code, path, message }) => (
        <p key={`${code} ${path}`} className="hint">
          {message}
        </p>
      ))}
      {estimate.isError && <Fault error={estimate.error} />}
    </div>
  )
}
