import { type FormEvent, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { GateForm } from '../release/gate-form.tsx'
import { SelectField, TextArea, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { Section } from '../ui/parts.tsx'
import { type EditedSetting, SETTING_KINDS, valueIn } from './setting-kinds.ts'
import type { Edits, OpenDraft } from './use-draft.ts'
import { ValueField } from './value-field.tsx'

const SETTING_NAMES = Object.keys(SETTING_KINDS) as EditedSetting[]

/** Name, prompt, release gate and settings of the draft. */
export function SettingsTab({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const { draft, edit } = open
  const isSet = (name: EditedSetting) => draft.settings[name] !== undefined
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
            <li className="wide">
              <SettingForm name={null} choices={unset} value={undefined} open={open} />
            </li>
          )}
        </ul>
      </Section>
    </div>
  )
}

interface SettingProps {
  /** Null: one of `choices`, which are not set yet. */
  readonly name: EditedSetting | null
  readonly choices?: readonly EditedSetting[]
  readonly value: unknown
  readonly open: OpenDraft
}

function SettingForm({ name, choices = [], value, open }: SettingProps) {
  const { text, language } = useTexts()
  const sorted = choices
    .map(choice => [choice, text(`setting.${choice}`)] as const)
    .toSorted(([, one], [, other]) => one.localeCompare(other, language))
  const [chosen, setChosen] = useState<EditedSetting | null>(null)
  const [fault, setFault] = useState<'settings.notJson' | 'settings.empty' | null>(null)
  // What was chosen is kept until it is stored: an answer may come when the next setting is being typed.
  const setting = name ?? choices.find(choice => choice === chosen) ?? sorted[0]![0]
  const kind = SETTING_KINDS[setting]
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      const typed = valueIn(kind, 'value', field => form.getAll(field).map(String))
      setFault(typed === undefined ? 'settings.empty' : null)
      if (typed !== undefined) open.edit([{ type: 'agent.settings', values: { [setting]: typed } }])
    } catch {
      setFault('settings.notJson')
    }
  }
  return (
    <form className={name === null ? 'setting new' : 'setting'} onSubmit={submit}>
      {name === null && (
        <SelectField
          label={text('settings.name')}
          value={setting}
          onChange={event => {
            setChosen(event.target.value as EditedSetting)
            setFault(null)
          }}
          choices={sorted}
        />
      )}
      <div>
        <ValueField
          key={setting}
          kind={kind}
          label={text(name === null ? 'settings.value' : `setting.${name}`)}
          name="value"
          value={value}
          isFaulty={fault !== null}
        />
        {fault !== null && (
          <p className="fault" role="alert">
            {text(fault)}
          </p>
        )}
      </div>
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
