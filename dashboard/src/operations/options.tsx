/** How it is done: a few first, with another input, softly or not, and why. */
import type { ReactNode } from 'react'
import type { Action } from '../api/operations.ts'
import { parsedFrom } from '../words/json.ts'

export interface Choices {
  readonly canary: string
  readonly edit: 'none' | 'patch' | 'input'
  readonly editText: string
  readonly mode: 'soft' | 'hard'
  readonly reason: string
}

export const UNCHANGED: Choices = { canary: '', edit: 'none', editText: '', mode: 'soft', reason: '' }

const EDITS = [
  ['none', 'As it was'],
  ['patch', 'Changed by a merge patch'],
  ['input', 'Replaced, the same for all'],
] as const
const MODES = [
  ['soft', 'Softly: handlers are told, and may clean up'],
  ['hard', 'Hard: they end now, and what handlers return is thrown away'],
] as const

export interface OptionsProps {
  readonly action: Action
  readonly most: number
  readonly choices: Choices
  readonly onChange: (choices: Choices) => void
}

export function Options({ action, most, choices, onChange }: OptionsProps): ReactNode {
  const set = (part: Partial<Choices>) => onChange({ ...choices, ...part })
  return (
    <>
      {action === 'redrive' ? (
        <>
          <label className="flex flex-wrap items-center gap-2">
            Try
            <input
              type="number"
              min={0}
              max={most}
              className="field w-16"
              placeholder="0"
              value={choices.canary}
              onChange={(event) => set({ canary: event.target.value })}
            />
            first, then the rest if all succeed
          </label>
          <Choice name="Input" of={EDITS} value={choices.edit} onChange={(edit) => set({ edit })} />
          {choices.edit === 'none' ? null : <EditText choices={choices} onWrite={(editText) => set({ editText })} />}
        </>
      ) : null}
      {action === 'cancel' ? (
        <Choice name="How" of={MODES} value={choices.mode} onChange={(mode) => set({ mode })} />
      ) : null}
      <label className="flex flex-col gap-1">
        Why, for the log
        <input
          className="field"
          value={choices.reason}
          maxLength={500}
          onChange={(event) => set({ reason: event.target.value })}
        />
      </label>
    </>
  )
}

interface ChoiceProps<T extends string> {
  readonly name: string
  readonly of: readonly (readonly [value: T, text: string])[]
  readonly value: T
  readonly onChange: (value: T) => void
}

function Choice<T extends string>({ name, of, value, onChange }: ChoiceProps<T>): ReactNode {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1">{name}</legend>
      {of.map(([each, text]) => (
        <label key={each} className="flex items-center gap-2">
          <input type="radio" name={name} checked={each === value} onChange={() => onChange(each)} />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

function EditText({
  choices: { edit, editText },
  onWrite,
}: {
  readonly choices: Choices
  readonly onWrite: (text: string) => void
}): ReactNode {
  const isReadable = parsedFrom(editText).ok
  return (
    <label className="flex flex-col gap-1">
      {edit === 'patch' ? 'Merge patch, as JSON: null removes a member' : 'Input, as JSON'}
      <textarea
        className="field mono h-24 w-full py-1"
        spellCheck={false}
        placeholder={edit === 'patch' ? '{ "proxy": true }' : '{ }'}
        aria-invalid={!isReadable}
        value={editText}
        onChange={(event) => onWrite(event.target.value)}
      />
      <span className="text-sm text-text-2">
        {isReadable
          ? 'Edited jobs are new jobs, linked to the old, which stay as they ended.'
          : 'This is not JSON yet.'}
      </span>
    </label>
  )
}
