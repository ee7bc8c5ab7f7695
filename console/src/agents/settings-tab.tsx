import { type FormEvent, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { GateForm } from '../release/gate-form.tsx'
import { SelectField, TextArea, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { Section } from '../ui/parts.tsx'
import { shownValue } from './draft-diff.ts'
import { SETTING_NAMES } from './setting-names.ts'
import type { Edits, OpenDraft } from './use-draft.ts'

/** Name, prompt, release gate and settings of the draft. Most settings are JSON values, as the API documents them. */
export function SettingsTab({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const { draft, edit } = open
  const isSet = (name: (typeof SETTING_NAMES)[number]) => draft.settings[name] !== undefined
  const [set, unset] = [SETTING_NAMES.filter(isSet), SETTING_NAMES.filter(name => !isSet(name))]
  const save = (make: (form: FormData) => Edits) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const edits = make(new FormData(event.currentTarget))
    if (edits.length > 0) edit(edits)
  }
  return (
    <div className="stack">
      <Section title={text('settings.general')}>
        <form
          className="form"
          // A change of other parts of the draft by somebody else keeps the form, with what is being typed in it.
          key={JSON.stringify([draft.name, draft.flow.global_prompt])}
          onSubmit={save(form => {
            const [name, prompt] = [String(form.get('name')), String(form.get('prompt'))]
            return [
              ...(name === draft.name ? [] : [{ type: 'agent.name' as const, name }]),
              ...(prompt === draft.flow.global_prompt ? [] : [{ type: 'flow.prompt' as const, text: prompt }]),
            ]
          })}
        >
          <TextField label={text('agents.name')} name="name" defaultValue={draft.name} required maxLength={256} />
          <TextArea
            label={text('settings.prompt')}
            name="prompt"
            defaultValue={draft.flow.global_prompt}
            rows={8}
            maxLength={65_536}
          />
          <FormActions isPending={open.isSaving} />
        </form>
      </Section>
      <GateForm key={JSON.stringify(draft.settings.releaseGate)} open={open} />
      <Section title={text('settings.settings')}>
        <ul className="settings">
          {set.map(name => (
            <li key={`${name} ${JSON.stringify(draft.settings[name])}`}>
              <SettingForm name={name} value={draft.settings[name]} open={open} />
            </li>
          ))}
          {unset.length > 0 && (
            <li key={set.length} className="wide">
              <SettingForm name={null} choices={unset} value={undefined} open={open} />
            </li>
          )}
        </ul>
      </Section>
    </div>
  )
}

type SettingName = (typeof SETTING_NAMES)[number]

interface SettingProps {
  /** Null: one of `choices`, which are not set yet. */
  readonly name: SettingName | null
  readonly choices?: readonly SettingName[]
  readonly value: unknown
  readonly open: OpenDraft
}

function SettingForm({ name, choices = [], value, open }: SettingProps) {
  const { text, language } = useTexts()
  const [fault, setFault] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const setting = name ?? String(form.get('name'))
    try {
      const values = { [setting]: JSON.parse(String(form.get('value'))) }
      setFault(false)
      open.edit([{ type: 'agent.settings', values }])
    } catch {
      setFault(true)
    }
  }
  return (
    <form className={name === null ? 'setting new' : 'setting'} onSubmit={submit}>
      {name === null && (
        <SelectField
          label={text('settings.name')}
          name="name"
          choices={choices
            .map(choice => [choice, text(`setting.${choice}`)] as const)
            .toSorted(([, one], [, other]) => one.localeCompare(other, language))}
        />
      )}
      <TextField
        label={text(name === null ? 'settings.value' : `setting.${name}`)}
        name="value"
        required
        className="code"
        defaultValue={
          name === null
            ? ''
            : shownValue(typeof value === 'string' ? JSON.stringify(value) : value).replace(/\n\s*/g, ' ')
        }
        aria-invalid={fault}
        {...(fault ? { hint: text('settings.notJson') } : name !== null && { hint: name })}
      />
      <div className="setting-actions">
        <button type="submit" className="button small" disabled={open.isSaving}>
          {text(name === null ? 'settings.add' : 'action.save')}
        </button>
        {name !== null && (
          <button
            type="button"
            className="button small quiet"
            disabled={open.isSaving}
            onClick={() => open.edit([{ type: 'agent.settings', clear: [name] }])}
          >
            {text('settings.clear')}
          </button>
        )}
      </div>
    </form>
  )
}
