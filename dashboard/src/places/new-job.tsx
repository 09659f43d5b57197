/** A job made by hand: a form where its worker has told what may be handed in, and the JSON beside it. Either changes the other. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { ask, Problem, segment } from '../api/http.ts'
import { useJob } from '../api/job.ts'
import { useTally, useWorkers } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { Form } from '../new-job/form.tsx'
import { beginningOf, complaintsAbout, isForm, type JsonSchema, schemaIn } from '../new-job/json-schema.ts'
import { Card } from '../parts/card.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { jsonText, parsedFrom } from '../words/json.ts'

export function NewJobPlace(): ReactNode {
  const session = useSession()
  const [params, setParams] = useSearchParams()
  const type = params.get('type') ?? ''
  const from = params.get('from')
  if (!session.can('createJob'))
    return (
      <Empty title="Not with this token">
        Jobs are made with a token of scope producer or admin; yours is of scope {session.scope}.
      </Empty>
    )
  return (
    <div className="page">
      <Title text="New job" />
      <TypeField type={type} onChoose={(next) => setParams(next === '' ? {} : { type: next })} />
      {type === '' ? (
        <p className="text-text-2">Choose a type. Those that workers have announced bring a form with them.</p>
      ) : from === null ? (
        <Announced key={type} type={type} original={undefined} />
      ) : (
        <FromAnother key={`${type} ${from}`} type={type} from={from} />
      )}
    </div>
  )
}

function TypeField({
  type,
  onChoose,
}: {
  readonly type: string
  readonly onChoose: (type: string) => void
}): ReactNode {
  const { data: tally } = useTally()
  const { data: workers } = useWorkers()
  const [text, setText] = useState(type)
  const names = useMemo(
    () =>
      [
        ...new Set([
          ...(workers ?? []).flatMap(({ types = [] }) => types),
          ...(tally?.counts ?? []).map((each) => each.type),
        ]),
      ].sort(),
    [workers, tally],
  )
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        onChoose(text.trim())
      }}
    >
      <label className="flex min-w-60 flex-col gap-1">
        Type
        <input
          className="field mono"
          list="job-types"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            if (names.includes(event.target.value)) onChoose(event.target.value)
          }}
        />
      </label>
      <datalist id="job-types">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {text.trim() === type ? null : (
        <button type="submit" className="btn">
          Take {text.trim()}
        </button>
      )}
    </form>
  )
}

/** As another one was, to be changed: a new job that belongs to the same. */
function FromAnother({ type, from }: { readonly type: string; readonly from: string }): ReactNode {
  const { data, error, isAsOfNow } = useJob(from)
  // As it was when the form was opened: what somebody has written is not taken away under their hands.
  const [original, setOriginal] = useState<Job>()
  if (original === undefined && data !== undefined && isAsOfNow) setOriginal(data)
  if (original !== undefined) return <Announced type={type} original={original} />
  return error === null ? <Loading /> : <Trouble error={error} />
}

interface TypeAnswer {
  readonly queue: string
  readonly inputSchema?: unknown
}

interface AnnouncedProps {
  readonly type: string
  readonly original: Job | undefined
}

function Announced({ type, original }: AnnouncedProps): ReactNode {
  const { data, error, isPending } = useQuery({
    queryKey: ['type', type],
    queryFn: () => announced(type),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error !== null) return <Trouble error={error} />
  if (isPending) return <Loading />
  return <Making type={type} announced={data ?? undefined} original={original} />
}

/** Null where nobody has announced the type: it can be enqueued all the same. */
async function announced(type: string): Promise<TypeAnswer | null> {
  try {
    return await ask<TypeAnswer>(`/v1/types/${segment(type)}`)
  } catch (error) {
    if (error instanceof Problem && error.body.status === 404) return null
    throw error
  }
}

const PRIORITIES = ['critical', 'interactive', 'normal', 'batch'] as const

interface MakingProps extends AnnouncedProps {
  readonly announced: TypeAnswer | undefined
}

function Making({ type, announced: told, original }: MakingProps): ReactNode {
  const [, go] = useLocation()
  const say = useSay()
  const announcedSchema = schemaIn(told?.inputSchema)
  const schema = isForm(announcedSchema) ? announcedSchema : undefined
  const [text, setText] = useState(() => beginning(schema, original))
  const [queue, setQueue] = useState(original?.queue ?? told?.queue ?? 'default')
  const [delay, setDelay] = useState('')
  const [priority, setPriority] = useState<string>('normal')
  // One for as long as this form is open: pressed twice, it is one job.
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const parsed = parsedFrom(text)
  const complaints = parsed.ok
    ? schema === undefined
      ? []
      : complaintsAbout(schema, parsed.value)
    : ['this is not JSON yet']
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      ask<{ readonly id: string }>('/v1/jobs', {
        method: 'POST',
        body: {
          type,
          queue,
          priority,
          idempotencyKey,
          ...(parsed.ok && parsed.value !== undefined ? { input: parsed.value } : {}),
          ...(delay.trim() === '' ? {} : { delay: delay.trim() }),
          ...(original === undefined ? {} : { correlationId: original.correlationId }),
        },
      }),
    onSuccess: ({ id }) => {
      say(`${type} was enqueued as ${id}.`)
      go(`/jobs/${encodeURIComponent(id)}`)
    },
    onError: (error) => say(refusal(error), true),
  })
  return (
    <form
      className="flex max-w-[1184px] flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (complaints.length === 0 && !isPending) mutate()
      }}
    >
      {told === undefined ? (
        <p className="text-text-2">
          No worker has announced <span className="mono">{type}</span>: it waits in its queue until one comes that knows
          it.
        </p>
      ) : null}
      <div className={`grid items-start gap-4 ${schema === undefined ? '' : 'desk:grid-cols-2'}`}>
        {schema === undefined ? null : (
          <Card title="Input">
            <div className="px-4 pb-4">
              <Form
                schema={schema}
                value={parsed.ok && isObject(parsed.value) ? parsed.value : {}}
                onChange={(value) => setText(jsonText(value, 2))}
              />
            </div>
          </Card>
        )}
        <Card title={schema === undefined ? 'Input, as JSON' : 'The same, as JSON'}>
          <div className="px-4 pb-4">
            <textarea
              aria-label="Input, as JSON"
              className="field mono h-48 w-full py-1"
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        </Card>
      </div>
      <div className="flex flex-wrap items-end gap-3">
        <Labelled name="Queue">
          <input className="field" value={queue} onChange={(event) => setQueue(event.target.value)} />
        </Labelled>
        <Labelled name="Priority">
          <select className="field" value={priority} onChange={(event) => setPriority(event.target.value)}>
            {PRIORITIES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Labelled>
        <Labelled name="Delay">
          <input
            className="field w-28"
            placeholder="30s"
            value={delay}
            onChange={(event) => setDelay(event.target.value)}
          />
        </Labelled>
        <button type="submit" className="btn btn-ink" aria-disabled={complaints.length > 0} disabled={isPending}>
          Enqueue {type}
        </button>
      </div>
      <p aria-live="polite" className="text-text-2">
        {complaints.length === 0 ? '' : `Not yet: ${complaints.slice(0, 3).join('; ')}.`}
      </p>
    </form>
  )
}

function Labelled({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is what it is given
    <label className="flex flex-col gap-1">
      {name}
      {children}
    </label>
  )
}

function beginning(schema: JsonSchema | undefined, original: Job | undefined): string {
  if (original !== undefined) return original.input === undefined ? '' : jsonText(original.input, 2)
  return schema === undefined ? '' : jsonText(beginningOf(schema), 2)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
