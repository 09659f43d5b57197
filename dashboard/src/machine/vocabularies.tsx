/** The words of all documents side by side; one below the other where there is no room beside. */
import type { ReactNode } from 'react'
import { useDialect } from '../api/queries.ts'
import type { State } from '../api/wire.ts'
import { Card } from '../parts/card.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { useMedia } from '../words/media.ts'
import { stateIn, useWords, VOCABULARIES } from '../words/vocabulary.tsx'

const DOCUMENTS = VOCABULARIES.filter((name) => name !== 'pawl')

export function Vocabularies({ states }: { readonly states: readonly State[] }): ReactNode {
  const hasRoom = useMedia('(min-width: 900px)')
  return (
    <Card
      title="Vocabularies"
      note="what each document calls a state; A / B where it depends on how far a job has come"
    >
      {hasRoom ? <Columns states={states} /> : <Lists states={states} />}
    </Card>
  )
}

function Columns({ states }: { readonly states: readonly State[] }): ReactNode {
  return (
    <Scroll label="Vocabularies">
      <table className="rows text-sm">
        <thead>
          <tr>
            <th>pawl</th>
            {DOCUMENTS.map((name) => (
              <th key={name}>
                <Document name={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {states.map((state) => (
            <tr key={state}>
              <td>
                <Own state={state} />
              </td>
              {DOCUMENTS.map((name) => (
                <td key={name} className="mono">
                  <Word name={name} state={state} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Lists({ states }: { readonly states: readonly State[] }): ReactNode {
  return (
    <ul className="grid phone:grid-cols-2">
      {states.map((state) => (
        <li key={state} className="border-t border-line px-4 py-2">
          <Own state={state} />
          <dl className="grid grid-cols-[52px_minmax(0,1fr)] gap-x-2 text-sm leading-6">
            {DOCUMENTS.map((name) => (
              <div key={name} className="contents">
                <dt className="text-text-3">{name}</dt>
                <dd className="mono break-words">
                  <Word name={name} state={state} />
                </dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  )
}

/** Whose words are spoken; pressed once more, ours again. */
function Document({ name }: { readonly name: string }): ReactNode {
  const words = useWords()
  return (
    <button
      type="button"
      className={`link ${words.name === name ? 'font-semibold' : ''}`}
      aria-pressed={words.name === name}
      onClick={() => words.choose(words.name === name ? 'pawl' : name)}
    >
      {name}
    </button>
  )
}

function Own({ state }: { readonly state: State }): ReactNode {
  return (
    <span className="inline-flex items-center gap-1.5 font-medium">
      <StateIcon state={state} />
      {state}
    </span>
  )
}

function Word({ name, state }: { readonly name: string; readonly state: State }): ReactNode {
  const { data } = useDialect(name)
  return data === undefined ? '' : stateIn(data, state)
}
