import { type FormEvent, useState } from 'react'
import type { OpenDraft } from '../agents/use-draft.ts'
import { SuiteChoice } from '../evaluation/suite-choice.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { Section } from '../ui/parts.tsx'
import { GATE_RATES, gateOf, percentOf } from './gate-fields.ts'

/** The release gate of the draft: test suites that a version must pass before it becomes the live one, and with which errors. */
export function GateForm({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const gate = open.draft.settings.releaseGate ?? null
  const [suites, setSuites] = useState<readonly string[]>(gate?.suites ?? [])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const values = { releaseGate: gateOf(suites, name => String(form.get(name) ?? '')) }
    open.edit([
      values.releaseGate === null
        ? { type: 'agent.settings', clear: ['releaseGate'] }
        : { type: 'agent.settings', values },
    ])
  }
  return (
    <Section title={text('gate.title')}>
      <form className="form" onSubmit={submit}>
        <p className="hint">{text('gate.formHint')}</p>
        <SuiteChoice chosen={suites} onChange={setSuites} />
        {suites.length > 0 && (
          <div className="columns narrow">
            {GATE_RATES.map(({ name, label, standard, least }) => (
              <TextField
                key={name}
                label={text(label)}
                name={name}
                type="number"
                min={percentOf(least)}
                max={50}
                step={0.1}
                required
                defaultValue={percentOf(gate?.[name] ?? standard)}
              />
            ))}
            <TextField
              label={text('gate.maximumTrials')}
              name="maximumTrials"
              type="number"
              min={1}
              max={100_000}
              defaultValue={gate?.maximumTrials ?? ''}
            />
            <TextField
              label={text('gate.maximumUsd')}
              name="maximumUsd"
              type="number"
              min={0}
              step="any"
              defaultValue={gate?.maximumUsd ?? ''}
            />
          </div>
        )}
        <FormActions isPending={open.isSaving} />
      </form>
    </Section>
  )
}
