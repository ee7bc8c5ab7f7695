import { type FormEvent, type ReactNode, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Disclosure } from '../ui/disclosure.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import {
  ASSERTION_TYPES,
  type AssertionInput,
  type CaseInput,
  JSON_FIELDS,
  linesOf,
  newAssertion,
  stepsOf,
} from './case-fields.ts'

interface CaseDialogProps {
  readonly test: CaseInput
  readonly isNew: boolean
  /** Ids that a new case cannot have. */
  readonly takenIds: readonly string[]
  readonly isPending: boolean
  /** Why the last attempt to store the case was refused. */
  readonly fault: ReactNode
  readonly onSave: (test: CaseInput) => void
  readonly onClose: () => void
}

type Kind = CaseInput['caller']['kind']

/** One case: its caller, how often it is tried, and what must hold. Fields that are seldom needed are JSON. */
export function CaseDialog({ test, isNew, takenIds, isPending, fault, onSave, onClose }: CaseDialogProps) {
  const { text, word } = useTexts()
  const [kind, setKind] = useState<Kind>(test.caller.kind)
  const [assertions, setAssertions] = useState(shownJson(test.assertions))
  const [problem, setProblem] = useState<string | null>(null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const changed = readCase(form, test, kind, assertions)
    if (changed === null) setProblem(text('case.notJson'))
    else if (takenIds.includes(changed.case_id)) setProblem(text('case.taken', { id: changed.case_id }))
    else {
      setProblem(null)
      onSave(changed)
    }
  }
  return (
    <Dialog title={isNew ? text('suite.addCase') : test.name} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text('agents.name')} name="name" defaultValue={test.name} required maxLength={200} />
        <TextField
          label={text('trunk.id')}
          name="case_id"
          defaultValue={test.case_id}
          required
          readOnly={!isNew}
          pattern="[a-z0-9][a-z0-9_\-]*"
          maxLength={64}
        />
        <div className="columns narrow">
          <SelectField
            label={text('agents.language')}
            name="language"
            defaultValue={test.language}
            choices={(['en', 'es'] as const).map(one => [one, word('language', one)])}
          />
          <SelectField
            label={text('case.mode')}
            name="mode"
            defaultValue={test.mode ?? 'text'}
            choices={(['text', 'audio'] as const).map(one => [one, word('caseMode', one)])}
          />
          <TextField
            label={text('testRun.trials')}
            name="trials"
            type="number"
            min={1}
            max={30}
            required
            defaultValue={test.trials ?? 1}
          />
          <SelectField
            label={text('case.passPolicy')}
            name="pass_policy"
            defaultValue={test.pass_policy ?? 'majority'}
            choices={(['majority', 'all'] as const).map(one => [one, word('passPolicy', one)])}
          />
        </div>
        <CheckField label={text('case.blocking')} name="blocking" defaultChecked={test.blocking ?? true} />
        <SelectField
          label={text('case.caller')}
          value={kind}
          onChange={event => setKind(event.target.value as Kind)}
          choices={(['script', 'persona'] as const).map(one => [one, word('caller', one)])}
        />
        <CallerFields key={kind} caller={test.caller} kind={kind} />
        <TextArea
          label={text('case.assertions')}
          className="code"
          rows={7}
          required
          value={assertions}
          onChange={event => setAssertions(event.target.value)}
        />
        <AddAssertion
          onAdd={type => {
            const list = parsedJson(assertions)
            if (Array.isArray(list)) setAssertions(shownJson([...list, newAssertion(type, list)]))
            else setProblem(text('case.notJson'))
          }}
        />
        <FurtherFields test={test} />
        {problem !== null && (
          <p role="alert" className="fault">
            {problem}
          </p>
        )}
        {fault}
        <FormActions isPending={isPending} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function CallerFields({ caller, kind }: { readonly caller: CaseInput['caller']; readonly kind: Kind }) {
  const { text } = useTexts()
  if (kind === 'script')
    return (
      <TextArea
        label={text('case.lines')}
        name="lines"
        rows={5}
        required
        defaultValue={caller.kind === 'script' ? linesOf(caller.steps) : ''}
      />
    )
  const persona = caller.kind === 'persona' ? caller : null
  return (
    <>
      <TextField label={text('case.goal')} name="goal" required maxLength={500} defaultValue={persona?.goal ?? ''} />
      <TextArea
        label={text('case.brief')}
        name="brief"
        rows={4}
        required
        maxLength={4000}
        defaultValue={persona?.brief ?? ''}
      />
      <TextArea
        label={text('case.facts')}
        name="facts"
        className="code"
        rows={3}
        defaultValue={shownJson(persona?.facts ?? {})}
      />
    </>
  )
}

function AddAssertion({ onAdd }: { readonly onAdd: (type: AssertionInput['type']) => void }) {
  const { text } = useTexts()
  const [type, setType] = useState<AssertionInput['type']>('said')
  return (
    <div className="inline-form">
      <SelectField
        label={text('case.newAssertion')}
        value={type}
        onChange={event => setType(event.target.value as AssertionInput['type'])}
        choices={ASSERTION_TYPES.map(one => [one, text(`assertion.${one}`)])}
      />
      <button type="button" className="button" onClick={() => onAdd(type)}>
        {text('settings.add')}
      </button>
    </div>
  )
}

function FurtherFields({ test }: { readonly test: CaseInput }) {
  const { text } = useTexts()
  const fields = Object.fromEntries(JSON_FIELDS.map(name => [name, test[name]]))
  return (
    <Disclosure title={text('case.further')}>
      <TextArea
        label={text('node.allFields')}
        name="further"
        className="code"
        rows={8}
        defaultValue={shownJson(fields)}
      />
    </Disclosure>
  )
}

/** The case that the form describes; null: a field of JSON has none. */
function readCase(form: FormData, test: CaseInput, kind: Kind, assertions: string): CaseInput | null {
  const field = (name: string) => String(form.get(name) ?? '').trim()
  const caller = kind === 'script' ? scriptOf(form, test) : personaOf(form, test)
  const list = parsedJson(assertions)
  const further = form.has('further') ? parsedJson(field('further')) : {}
  if (caller === null || !Array.isArray(list) || further === null || typeof further !== 'object') return null
  return {
    ...test,
    ...further,
    case_id: field('case_id'),
    name: field('name'),
    language: field('language') as CaseInput['language'],
    mode: field('mode') as 'text' | 'audio',
    trials: Number(field('trials')),
    pass_policy: field('pass_policy') as 'majority' | 'all',
    blocking: form.has('blocking'),
    caller,
    assertions: list,
  }
}

function scriptOf(form: FormData, { caller }: CaseInput): CaseInput['caller'] {
  const steps = caller.kind === 'script' ? caller.steps : []
  return { kind: 'script', steps: stepsOf(String(form.get('lines')), steps) }
}

function personaOf(form: FormData, { caller }: CaseInput): CaseInput['caller'] | null {
  const facts = parsedJson(String(form.get('facts')))
  if (facts === null || typeof facts !== 'object') return null
  return {
    ...(caller.kind === 'persona' && caller),
    kind: 'persona',
    goal: String(form.get('goal')).trim(),
    brief: String(form.get('brief')).trim(),
    facts: facts as Record<string, string>,
  }
}

const shownJson = (value: unknown) => JSON.stringify(value, null, 1)

/** The value of JSON text; null also for text that is none. */
function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
