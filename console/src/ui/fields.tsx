import { type ComponentProps, type ReactNode, useId } from 'react'

interface Labelled {
  readonly label: string
  readonly hint?: ReactNode
}

export function TextField({ label, hint, ...input }: Labelled & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <input id={id} autoComplete="off" aria-describedby={hint === undefined ? undefined : `${id}-hint`} {...input} />
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export function TextArea({ label, ...area }: { readonly label: string } & ComponentProps<'textarea'>) {
  const id = useId()
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <textarea id={id} spellCheck={false} {...area} />
    </div>
  )
}

type SelectProps = ComponentProps<'select'> & {
  readonly label: string
  readonly choices: readonly (readonly [value: string, name: string])[]
}

export function SelectField({ label, choices, ...select }: SelectProps) {
  const id = useId()
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <select id={id} {...select}>
        {choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

export function CheckField({ label, ...input }: { readonly label: string } & ComponentProps<'input'>) {
  return (
    <label className="check">
      <input type="checkbox" {...input} />
      {label}
    </label>
  )
}
