//! What becomes of requests: decided by chance, from a seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use pleach::clock::Clock;
use pleach::store::{Backend, Fault, Faults, Hold, RequestKind, Store, StoreKind, StoreOptions};

/// Numbers that look random and are the same for the same seed.
#[derive(Debug, Clone)]
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// One object store, as each process meets it.
#[derive(Debug, Clone)]
pub(super) struct Weather {
    objects: Arc<InMemory>,
    clock: Clock,
}

/// What kills a process: none of its requests is sent or answered any more.
#[derive(Debug, Clone, Default)]
pub(super) struct Death(Arc<AtomicBool>);

impl Death {
    pub(super) fn strike(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn struck(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A hold that lets go after some turns of everybody else.
fn turns(count: u64) -> Hold {
    let hold = Hold::new();
    let released = hold.clone();
    tokio::spawn(async move {
        for _ in 0..count {
            tokio::task::yield_now().await;
        }
        released.release();
    });
    hold
}

impl Weather {
    pub(super) fn new(objects: Arc<InMemory>, clock: Clock) -> Self {
        Self { objects, clock }
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A store without troubles.
    pub(super) fn calm(&self) -> Store {
        self.store(self.objects.clone())
    }

    fn store(&self, objects: Arc<dyn ObjectStore>) -> Store {
        let options = StoreOptions { clock: self.clock.clone(), ..StoreOptions::default() };
        Store::from_backend(Backend::new(StoreKind::Memory, "memory://chaos", objects), &options)
    }

    /// The store as a new process meets it, until it dies.
    pub(super) fn process(&self, mut numbers: Numbers) -> (Store, Death) {
        let death = Death::default();
        let faults = Faults::new(self.objects.clone());
        let struck = death.clone();
        faults.decide(move |kind, _| {
            if struck.struck() {
                return Some(Fault::Hang);
            }
            let creates = kind == RequestKind::Create;
            match numbers.below(100) {
                0 => Some(Fault::FailBefore),
                1 => Some(Fault::FailAfter),
                // A put that its sender takes for failed.
                2 if creates || kind == RequestKind::Put => Some(Fault::FailThenLand(turns(numbers.below(400)))),
                // The answer to a commit does not come: after some time it is looked for.
                3 if creates => Some(Fault::HangAfter),
                4 if creates => Some(Fault::Unreachable),
                5..40 => Some(Fault::Hold(turns(numbers.below(60)))),
                _ => None,
            }
        });
        (self.store(Arc::new(faults)), death)
    }
}
