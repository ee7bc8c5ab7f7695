import type { ResultFrom } from '@parley/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useApi } from '../api/api.tsx'
import { USD } from '../evaluation/test-run-parts.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { Badge, Facts, Fault, Loading, Marked, type Tone } from '../ui/parts.tsx'
import { saveJson } from '../ui/save-json.ts'

type Gate = ResultFrom<'publications.get'>['gate']
type Evidence = NonNullable<Gate['evidence']>

/** How often the gate of a version is read again while its tests run, in ms. */
const REFRESH_MS = 2000

const TONES: Readonly<Record<Gate['state'], Tone>> = {
  none: 'neutral',
  running: 'live',
  passed: 'good',
  failed: 'bad',
  superseded: 'warn',
  overridden: 'warn',
}

interface GatePanelProps {
  readonly agentId: string
  readonly version: number
}

/** The release gate of a version: its state, what its tests showed, and the certificate of a version that passed. */
export function GatePanel({ agentId, version }: GatePanelProps) {
  const api = useApi()
  const { text } = useTexts()
  const found = useQuery({
    queryKey: ['publications.get', agentId, version],
    queryFn: ({ signal }) => api.publications.get({ params: { agent_id: agentId, version } }, { signal }),
    refetchInterval: query => (query.state.data?.gate.state === 'running' ? REFRESH_MS : false),
  })
  useFreshAgent(agentId, found.data?.gate.state)
  if (found.isPending) return <Loading />
  if (found.isError) return <Fault error={found.error} />
  const { gate, certificate } = found.data
  return (
    <div className="gate">
      <GateFacts gate={gate} />
      {gate.evidence !== null && <EvidenceFacts evidence={gate.evidence} />}
      {certificate !== null && (
        <p>
          <button
            type="button"
            className="button small"
            onClick={() => saveJson(certificate, `${agentId}-${version}.certificate.json`)}
          >
            {text('gate.saveCertificate')}
          </button>{' '}
          <span className="hint">
            <Marked text={text('gate.certificateHint', { key: certificate.key_id })} />
          </span>
        </p>
      )}
    </div>
  )
}

/** Reads agent and versions again when the gate gets its result, which may have moved the live version. */
function useFreshAgent(agentId: string, state: Gate['state'] | undefined): void {
  const queries = useQueryClient()
  useEffect(() => {
    if (state === undefined || state === 'running') return
    void queries.invalidateQueries({ queryKey: ['agents.get', agentId] })
    void queries.invalidateQueries({ queryKey: ['publications.list', agentId] })
  }, [queries, agentId, state])
}

function GateBadge({ state }: { readonly state: Gate['state'] }) {
  const { word } = useTexts()
  return <Badge tone={TONES[state]}>{word('gateState', state)}</Badge>
}

function GateFacts({ gate }: { readonly gate: Gate }) {
  const { text, word, dateTime } = useTexts()
  const { state, test_run_id, candidate, predecessor, evidence, override } = gate
  return (
    <Facts
      rows={[
        [text('run.state'), <GateBadge key="state" state={state} />],
        [text('gate.reason'), evidence?.reason == null ? null : word('gateReason', evidence.reason)],
        [
          text('gate.compared'),
          state === 'none' || state === 'overridden'
            ? null
            : predecessor === null
              ? text('run.versionOf', { version: candidate })
              : text('gate.against', { candidate, predecessor }),
        ],
        [
          text('testRun.one'),
          test_run_id === null ? null : (
            <Link key="run" to={{ page: 'test-run', testRunId: test_run_id }}>
              {text('live.open')}
            </Link>
          ),
        ],
        [text('gate.override'), override === null ? null : `${override.reason} · ${dateTime(override.at)}`],
      ]}
    />
  )
}

/** Pass rates with their intervals, and what the tests took. */
function EvidenceFacts({ evidence }: { readonly evidence: Evidence }) {
  const { text, word, number } = useTexts()
  const { candidate, predecessor, difference } = evidence
  const percent = (value: number) => number(value, { style: 'percent', maximumFractionDigits: 1 })
  const points = (value: number) => number(100 * value, { maximumFractionDigits: 1, signDisplay: 'exceptZero' })
  const rate = ({ passed, trials, low, high }: Evidence['candidate']) =>
    text('gate.rate', { passed, trials, low: percent(low), high: percent(high) })
  return (
    <Facts
      rows={[
        [text('gate.method'), word('gateMethod', evidence.method)],
        [text('gate.candidate'), rate(candidate)],
        [text('gate.predecessor'), predecessor === null ? null : rate(predecessor)],
        [
          text('gate.difference'),
          difference === null
            ? null
            : text('gate.points', {
                estimate: points(difference.estimate),
                low: points(difference.low),
                high: points(difference.high),
              }),
        ],
        [text('gate.pairs'), number(evidence.pairs)],
        [text('testRun.trials'), number(evidence.trials)],
        [text('usage.cost'), evidence.measured_usd === null ? null : number(evidence.measured_usd, USD)],
      ]}
    />
  )
}
