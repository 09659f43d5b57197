/** The page: who looks at it, in whose words, at which place. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
import { Route, Router, Switch } from 'wouter'
import { BASE, Problem } from './api/http.ts'
import { SessionGate } from './api/session.tsx'
import { Frame } from './frame/frame.tsx'
import { nameIn, useAddress, useAddressQuery } from './frame/location.ts'
import { Boundary } from './parts/boundary.tsx'
import { Toasts } from './parts/toasts.tsx'
import { Empty, Loading } from './parts/trouble.tsx'
import { OverviewPlace } from './places/overview.tsx'
import { SignIn } from './places/sign-in.tsx'
import { VocabularyProvider } from './words/vocabulary.tsx'

// The overview comes first; what else there is comes when somebody goes there.
const JobsPlace = lazy(async () => ({ default: (await import('./places/jobs.tsx')).JobsPlace }))
const JobPlace = lazy(async () => ({ default: (await import('./places/job.tsx')).JobPlace }))
const DeadLettersPlace = lazy(async () => ({ default: (await import('./places/dead-letters.tsx')).DeadLettersPlace }))
const ApprovalsPlace = lazy(async () => ({ default: (await import('./places/approvals.tsx')).ApprovalsPlace }))
const DecisionsPlace = lazy(async () => ({ default: (await import('./places/decisions.tsx')).DecisionsPlace }))
const QueuesPlace = lazy(async () => ({ default: (await import('./places/queues.tsx')).QueuesPlace }))
const LimitsPlace = lazy(async () => ({ default: (await import('./places/limits.tsx')).LimitsPlace }))
const SchedulesPlace = lazy(async () => ({ default: (await import('./places/schedules.tsx')).SchedulesPlace }))
const NewJobPlace = lazy(async () => ({ default: (await import('./places/new-job.tsx')).NewJobPlace }))
const WorkersPlace = lazy(async () => ({ default: (await import('./places/workers.tsx')).WorkersPlace }))
const TailPlace = lazy(async () => ({ default: (await import('./places/tail.tsx')).TailPlace }))
const OperationsPlace = lazy(async () => ({ default: (await import('./places/operations.tsx')).OperationsPlace }))
const MachinePlace = lazy(async () => ({ default: (await import('./places/machine.tsx')).MachinePlace }))
const TokensPlace = lazy(async () => ({ default: (await import('./places/tokens.tsx')).TokensPlace }))
const AuditPlace = lazy(async () => ({ default: (await import('./places/audit.tsx')).AuditPlace }))

/** Who is refused is refused again; who was not heard is asked again. */
const isWorthAnother = (count: number, error: unknown): boolean =>
  count < 3 && error instanceof Problem && (error.body.status === 0 || error.body.status >= 500)

const client = new QueryClient({
  defaultOptions: {
    // Whether the gateway answers is found out by asking it: a browser that calls itself offline may be beside it.
    queries: { networkMode: 'always', retry: isWorthAnother, staleTime: 1_000, refetchIntervalInBackground: false },
    mutations: { networkMode: 'always', retry: false },
  },
})

export function App(): ReactNode {
  return (
    <QueryClientProvider client={client}>
      <Router base={BASE} hook={useAddress} searchHook={useAddressQuery}>
        <Toasts>
          <SessionGate signIn={<SignIn />} again={<SignIn isAgain />}>
            <VocabularyProvider>
              <Frame>
                <Boundary>
                  <Suspense fallback={<Loading />}>
                    <Places />
                  </Suspense>
                </Boundary>
              </Frame>
            </VocabularyProvider>
          </SessionGate>
        </Toasts>
      </Router>
    </QueryClientProvider>
  )
}

function Places(): ReactNode {
  return (
    <Switch>
      <Route path="/" component={OverviewPlace} />
      <Route path="/sign-in" component={OverviewPlace} />
      <Route path="/jobs" component={JobsPlace} />
      <Route path="/jobs/:id">{({ id }) => <JobPlace key={id} id={nameIn(id)} />}</Route>
      <Route path="/dead-letters" component={DeadLettersPlace} />
      <Route path="/approvals" component={ApprovalsPlace} />
      <Route path="/approvals/decisions" component={DecisionsPlace} />
      <Route path="/queues">{() => <QueuesPlace />}</Route>
      <Route path="/queues/:name">{({ name }) => <QueuesPlace name={nameIn(name)} />}</Route>
      <Route path="/limits">{() => <LimitsPlace />}</Route>
      <Route path="/limits/:key">{({ key }) => <LimitsPlace name={nameIn(key)} />}</Route>
      <Route path="/schedules">{() => <SchedulesPlace />}</Route>
      <Route path="/schedules/:name">{({ name }) => <SchedulesPlace name={nameIn(name)} />}</Route>
      <Route path="/new" component={NewJobPlace} />
      <Route path="/workers">{() => <WorkersPlace />}</Route>
      <Route path="/workers/:id">{({ id }) => <WorkersPlace id={nameIn(id)} />}</Route>
      <Route path="/tail" component={TailPlace} />
      <Route path="/operations">{() => <OperationsPlace />}</Route>
      <Route path="/operations/:id">{({ id }) => <OperationsPlace id={nameIn(id)} />}</Route>
      <Route path="/machine" component={MachinePlace} />
      <Route path="/tokens" component={TokensPlace} />
      <Route path="/audit" component={AuditPlace} />
      <Route>
        <Empty title="There is nothing at this address">The address may be of another installation, or mistyped.</Empty>
      </Route>
    </Switch>
  )
}
