import { type FormEvent, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { ConfirmButton } from '../operations/confirm-button.tsx'
import { Link } from '../router.tsx'
import { Icon } from '../shell/icon.tsx'
import { TextField } from '../ui/fields.tsx'
import { Badge, Empty, Fault, Loading, PageHead, Section } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { CaseDialog } from './case-dialog.tsx'
import { type CaseInput, newCase, type Suite, type SuiteEdits } from './case-fields.ts'
import { NewTestRun } from './new-test-run.tsx'
import { isStale, useSuite } from './use-suite.ts'
import '../styles/evaluation.css'
import { AgentName } from '../runs/agent-name.tsx'

type Case = Suite['cases'][number]

/** One test suite: its name and cases, which are edited here, and test runs with it. */
export function SuitePage({ suiteId }: { readonly suiteId: string }) {
  const { text } = useTexts()
  const { found, edit } = useSuite(suiteId)
  /** The case of the dialog; null: no dialog. */
  const [edited, setEdited] = useState<{ readonly test: CaseInput; readonly isNew: boolean } | null>(null)
  const [isStarting, setStarting] = useState(false)
  if (found.isPending) return <Loading />
  if (found.isError) return <Fault error={found.error} />
  const suite = found.data
  const { cases } = suite
  const open = (next: typeof edited) => {
    edit.reset()
    setEdited(next)
  }
  const fault = edit.isError ? <SuiteFault error={edit.error} /> : null
  return (
    <>
      <PageHead
        title={suite.name}
        lead={
          <>
            <Link to={{ page: 'evaluation' }}>{text('nav.evaluation')}</Link>
            {suite.agent_id !== null && (
              <>
                {' · '}
                <AgentName agentId={suite.agent_id} />
              </>
            )}{' '}
            · {text('suite.revision')} {suite.revision} · <span className="code">{suite.digest.slice(7, 19)}</span>
          </>
        }
      >
        <button type="button" className="button primary" onClick={() => setStarting(true)}>
          <Icon name="play" />
          {text('testRun.run')}
        </button>
      </PageHead>
      <div className="stack">
        {edited === null && fault}
        <Section
          title={text('suite.cases')}
          actions={
            <button
              type="button"
              className="button"
              onClick={() => open({ test: newCase(cases, cases[0]?.language ?? 'en'), isNew: true })}
            >
              {text('suite.addCase')}
            </button>
          }
        >
          <Cases
            cases={cases}
            isPending={edit.isPending}
            onOpen={test => open({ test, isNew: false })}
            onEdit={edits => edit.mutate(edits)}
          />
        </Section>
        <Section title={text('settings.general')}>
          <NameForm key={suite.name} name={suite.name} onEdit={edits => edit.mutate(edits)} />
          {suite.source !== null && (
            <>
              <h3>{text('suite.source')}</h3>
              <pre className="json">{JSON.stringify(suite.source, null, 1)}</pre>
              <ConfirmButton
                label={text('suite.removeSource')}
                onConfirm={() => edit.mutate([{ op: 'set_source', source: null }])}
              />
            </>
          )}
        </Section>
      </div>
      {edited !== null && (
        <CaseDialog
          test={edited.test}
          isNew={edited.isNew}
          takenIds={edited.isNew ? cases.map(({ case_id }) => case_id) : []}
          isPending={edit.isPending}
          fault={fault}
          onSave={test => edit.mutate([{ op: 'upsert_case', case: test }], { onSuccess: () => setEdited(null) })}
          onClose={() => open(null)}
        />
      )}
      {isStarting && <NewTestRun suite={suite} onClose={() => setStarting(false)} />}
    </>
  )
}

function SuiteFault({ error }: { readonly error: unknown }) {
  const { text } = useTexts()
  return <Fault error={isStale(error) ? new Error(text('suite.stale')) : error} />
}

interface CasesProps {
  readonly cases: readonly Case[]
  readonly isPending: boolean
  readonly onOpen: (test: Case) => void
  readonly onEdit: (edits: SuiteEdits) => void
}

function Cases({ cases, isPending, onOpen, onEdit }: CasesProps) {
  const { text, word } = useTexts()
  const moved = (index: number): SuiteEdits => {
    const ids = cases.map(({ case_id }) => case_id)
    ids.splice(index - 1, 2, ids[index]!, ids[index - 1]!)
    return [{ op: 'reorder_cases', case_ids: ids }]
  }
  const columns: readonly Column<Case>[] = [
    {
      header: text('testRun.case'),
      cell: test => (
        <>
          <button type="button" className="link" onClick={() => onOpen(test)}>
            {test.name}
          </button>{' '}
          <span className="code hint">{test.case_id}</span>
        </>
      ),
    },
    {
      header: text('case.caller'),
      cell: ({ caller, mode, blocking }) => (
        <span className="badges">
          <Badge tone="neutral">{word('caller', caller.kind)}</Badge>
          <Badge tone="neutral">{word('caseMode', mode)}</Badge>
          {blocking && <Badge tone="warn">{text('suite.blocking')}</Badge>}
        </span>
      ),
    },
    {
      header: text('testRun.assertions'),
      cell: ({ assertions }) => assertions.map(({ type }) => text(`assertion.${type}`)).join(', '),
    },
    { header: text('testRun.trials'), cell: ({ trials }) => trials, isNumber: true },
    {
      header: text('version.action'),
      cell: test => (
        <span className="badges">
          <button
            type="button"
            className="button small"
            disabled={isPending || cases[0] === test}
            onClick={() => onEdit(moved(cases.indexOf(test)))}
          >
            {text('suite.moveUp')}
          </button>
          <ConfirmButton
            label={text('suite.removeCase')}
            disabled={isPending}
            onConfirm={() => onEdit([{ op: 'remove_case', case_id: test.case_id }])}
          />
        </span>
      ),
    },
  ]
  if (cases.length === 0) return <Empty>{text('suite.noCases')}</Empty>
  return <Table caption={text('suite.cases')} columns={columns} rows={cases} keyOf={({ case_id }) => case_id} />
}

function NameForm({ name, onEdit }: { readonly name: string; readonly onEdit: (edits: SuiteEdits) => void }) {
  const { text } = useTexts()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const changed = String(new FormData(event.currentTarget).get('name')).trim()
    if (changed !== name) onEdit([{ op: 'set_name', name: changed }])
  }
  return (
    <form className="inline-form" onSubmit={submit}>
      <TextField
        label={text('agents.name')}
        name="name"
        defaultValue={name}
        required
        pattern=".*\S.*"
        maxLength={200}
      />
      <button type="submit" className="button">
        {text('action.save')}
      </button>
    </form>
  )
}
