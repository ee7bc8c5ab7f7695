import type { ResultFrom } from '@parley/client'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { clock } from '../ui/duration.ts'
import { Badge, Empty, Facts, Fault, Loading } from '../ui/parts.tsx'
import { ReplayChanges, useTrial } from './replay-changes.tsx'
import { VerdictBadge } from './test-run-parts.tsx'

type Trial = ResultFrom<'test_runs.trial'>

interface TrialDialogProps {
  readonly testRunId: string
  readonly trialId: string
  readonly onClose: () => void
}

/** One trial: what was asserted and judged, what it was kept from doing, and what was said. */
export function TrialDialog({ testRunId, trialId, onClose }: TrialDialogProps) {
  const { text, shortTime } = useTexts()
  const found = useTrial(testRunId, trialId)
  const trial = found.data
  return (
    <Dialog
      title={trial === undefined ? text('testRun.trial') : `${trial.case_id} · ${text('testRun.trial')} ${trial.trial}`}
      onClose={onClose}
    >
      {found.isPending && <Loading />}
      {found.isError && <Fault error={found.error} />}
      {trial !== undefined && (
        <div className="trial">
          <Facts
            rows={[
              [text('testRun.verdict'), <VerdictBadge key="verdict" verdict={trial.verdict} state={trial.state} />],
              [text('run.duration'), trial.duration_ms === null ? null : shortTime(trial.duration_ms)],
              [
                text('testRun.conversation'),
                trial.run_id === null ? null : (
                  <Link key="run" to={{ page: 'run', runId: trial.run_id }}>
                    {text('live.open')}
                  </Link>
                ),
              ],
            ]}
          />
          {trial.error !== null && <p className="fault">{trial.error}</p>}
          {trial.changes !== null && (
            <section>
              <h3>{text('replay.changes')}</h3>
              <ReplayChanges trial={trial} />
            </section>
          )}
          <Assertions trial={trial} />
          <GuardEvents trial={trial} />
          <Words trial={trial} />
        </div>
      )}
    </Dialog>
  )
}

function Assertions({ trial }: { readonly trial: Trial }) {
  const { text, word } = useTexts()
  return (
    <section>
      <h3>{text('testRun.assertions')}</h3>
      {trial.assertions.length === 0 && <Empty>{text('testRun.noAssertions')}</Empty>}
      <ul className="cases">
        {trial.assertions.map(({ id, type, passed, message }) => (
          <li key={id}>
            <Badge tone={passed === null ? 'neutral' : passed ? 'good' : 'bad'}>
              {text(passed === null ? 'testRun.notJudged' : passed ? 'testRun.holds' : 'testRun.fails')}
            </Badge>{' '}
            <strong className="code">{id}</strong> <span className="hint">{word('assertion', type)}</span>
            {message !== null && <p>{message}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What the trial would have done outside. */
function GuardEvents({ trial }: { readonly trial: Trial }) {
  const { text } = useTexts()
  if (trial.guard_events.length === 0) return null
  return (
    <section>
      <h3>{text('testRun.guardEvents')}</h3>
      <ul className="cases">
        {trial.guard_events.map(({ kind, action_id, offset_ms }) => (
          <li key={`${kind} ${action_id} ${offset_ms}`}>
            <span className="code">{kind}</span> {action_id}{' '}
            {offset_ms !== null && <span className="hint figures">{clock(offset_ms)}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Words({ trial }: { readonly trial: Trial }) {
  const { text } = useTexts()
  return (
    <section>
      <h3>{text('transcript.title')}</h3>
      {trial.transcript === null || trial.transcript.utterances.length === 0 ? (
        <Empty>{text('transcript.empty')}</Empty>
      ) : (
        <ol className="live-turns">
          {trial.transcript.utterances.map(({ index, role, text: words, interrupted }) => (
            <li key={index} className={role}>
              {words}
              {interrupted && <span className="cut"> · {text('transcript.interrupted')}</span>}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
