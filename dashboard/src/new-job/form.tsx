/** One field for each member of an input, by what its schema says of it. */
import { type ReactNode, useState } from 'react'
import { Digits, jsonText, numberFrom, parsedFrom } from '../words/json.ts'
import { type JsonSchema, type Member, membersOf } from './json-schema.ts'

type Given = Readonly<Record<string, unknown>>

export interface FormProps {
  readonly schema: JsonSchema
  readonly value: Given
  readonly onChange: (value: Given) => void
}

export function Form({ schema, value, onChange }: FormProps): ReactNode {
  const set = (name: string, member: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(member === undefined ? rest : { ...value, [name]: member })
  }
  return (
    <div className="flex flex-col gap-3">
      {membersOf(schema).map((member) => (
        <Field
          key={member.name}
          member={member}
          value={value[member.name]}
          onChange={(next) => set(member.name, next)}
        />
      ))}
    </div>
  )
}

interface FieldProps {
  readonly member: Member
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

function Field({ member, value, onChange }: FieldProps): ReactNode {
  const { name, schema, isRequired, kind } = member
  if (kind === 'group')
    return (
      <fieldset className="flex flex-col gap-2 border-l-2 border-line pl-3">
        <legend className="font-medium">{schema.title ?? name}</legend>
        <Form schema={schema} value={isGiven(value) ? value : {}} onChange={onChange} />
      </fieldset>
    )
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is one of several, by the kind of the member
    <label className="flex flex-col gap-1">
      <span>
        <span className="font-medium">{schema.title ?? name}</span>
        {isRequired ? '' : <span className="text-text-3"> may be left out</span>}
      </span>
      <Control member={member} value={value} onChange={onChange} />
      {schema.description === undefined ? null : <span className="text-sm text-text-3">{schema.description}</span>}
    </label>
  )
}

const isGiven = (value: unknown): value is Given => typeof value === 'object' && value !== null && !Array.isArray(value)

function Control(props: FieldProps): ReactNode {
  const { member, value, onChange } = props
  const { schema, isRequired, kind } = member
  switch (kind) {
    case 'choice':
      return (
        <select
          className="field"
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
        >
          {isRequired ? null : <option value="">(left out)</option>}
          {schema.enum?.map((each) => (
            <option key={String(each)}>{String(each)}</option>
          ))}
        </select>
      )
    case 'switch':
      return (
        <input
          type="checkbox"
          className="size-4 accent-[var(--focus)]"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
      )
    case 'number':
      return (
        <input
          type="number"
          className="field"
          min={schema.minimum}
          max={schema.maximum}
          step={schema.type === 'integer' ? 1 : 'any'}
          value={value instanceof Digits ? value.text : typeof value === 'number' ? value : ''}
          onChange={(event) => onChange(event.target.value === '' ? undefined : numberFrom(event.target.value))}
        />
      )
    case 'text':
      return (
        <input
          className="field"
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.target.value === '' && !isRequired ? undefined : event.target.value)}
        />
      )
    default:
      return <JsonControl {...props} />
  }
}

/** What no simpler field can hold. */
function JsonControl({ value, onChange }: FieldProps): ReactNode {
  const [text, setText] = useState(value === undefined ? '' : jsonText(value))
  const [isWrong, setWrong] = useState(false)
  const change = (next: string) => {
    setText(next)
    const parsed = parsedFrom(next)
    setWrong(!parsed.ok)
    if (parsed.ok) onChange(parsed.value)
  }
  return (
    <>
      <textarea className="field mono h-16 py-1" value={text} onChange={(event) => change(event.target.value)} />
      {isWrong ? <span className="text-bad">This is not JSON yet.</span> : null}
    </>
  )
}
