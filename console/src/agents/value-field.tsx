import { useTexts } from '../i18n/i18n.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../ui/fields.tsx'
import { fieldText, type ValueKind } from './setting-kinds.ts'

interface ValueFieldProps {
  readonly kind: ValueKind
  readonly label: string
  /** Of its field; parts have the names `name.part`. */
  readonly name: string
  /** Undefined: none. */
  readonly value: unknown
  readonly isFaulty?: boolean
  /** Whether an empty field is no value, as in an optional part; default false. */
  readonly isOptional?: boolean
}

/** The field, or fields, by which a value is edited; `valueIn` reads them. */
export function ValueField({ kind, label, name, value, isFaulty = false, isOptional = false }: ValueFieldProps) {
  const { text, word } = useTexts()
  const labelled = { label, name }
  const start = fieldText(kind, value)
  switch (kind.type) {
    case 'parts':
      return (
        <fieldset className="value-parts">
          <legend>{label}</legend>
          {Object.entries(kind.parts).map(([part, of]) => (
            <ValueField
              key={part}
              kind={of}
              label={word('settingPart', part)}
              name={`${name}.${part}`}
              value={(value as Readonly<Record<string, unknown>> | undefined)?.[part]}
              isOptional
            />
          ))}
        </fieldset>
      )
    case 'checks':
      return (
        <fieldset className="value-parts">
          <legend>{label}</legend>
          {kind.words.map(one => (
            <CheckField
              key={one}
              label={word('settingWord', one)}
              name={name}
              value={one}
              defaultChecked={Array.isArray(value) && value.includes(one)}
            />
          ))}
        </fieldset>
      )
    case 'choice':
    case 'flag': {
      const known =
        kind.type === 'choice'
          ? kind.words.map(one => [one, word('settingWord', one)] as const)
          : [['true', text('filter.yes')] as const, ['false', text('filter.no')] as const]
      // A value that the API takes and this page does not know stays as it is.
      const choices = start === '' || known.some(([one]) => one === start) ? known : [...known, [start, start] as const]
      return (
        <SelectField
          {...labelled}
          choices={isOptional || start === '' ? [['', '–'], ...choices] : choices}
          defaultValue={start}
          required={!isOptional}
        />
      )
    }
    case 'lines':
      return <TextArea label={`${label} (${text('settings.lines')})`} name={name} rows={3} defaultValue={start} />
    case 'number':
      return <TextField {...labelled} type="number" step="any" defaultValue={start} required={!isOptional} />
    default:
      return (
        <TextField
          {...labelled}
          defaultValue={start}
          required={!isOptional}
          aria-invalid={isFaulty}
          {...(kind.type === 'json' && { className: 'code' })}
        />
      )
  }
}
