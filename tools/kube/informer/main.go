// Shared informers of client-go over a server's kinds, for a given time: exits 1 when a reflector had anything to
// complain of, or when what the informers hold at the end is not what a list says.
//
//	informer --kubeconfig FILE [--context NAME] [--for 10m]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// Kinds that typed informers follow: those our controllers use, and what a cluster's own controllers use.
var typed = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "nodes"},
	{Version: "v1", Resource: "namespaces"},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Version: "v1", Resource: "endpoints"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
}

// Our own kinds, followed where the server has them.
var custom = []schema.GroupVersionResource{
	{Group: "ebcpaas.lb", Version: "v1", Resource: "loadbalancers"},
	{Group: "ebcpaas.lb", Version: "v1", Resource: "lbrules"},
	{Group: "ebcpaas.io", Version: "v1", Resource: "lbtickets"},
}

type told struct {
	errors atomic.Int64
	events atomic.Int64
}

func main() {
	path := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "path of the kubeconfig")
	name := flag.String("context", "", "context; the current one unless given")
	length := flag.Duration("for", 10*time.Minute, "how long to follow")
	flag.Parse()
	if err := follow(*path, *name, *length); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func follow(path, name string, length time.Duration) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: path},
		&clientcmd.ConfigOverrides{CurrentContext: name},
	).ClientConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	moving, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	fmt.Printf("server %s\n", version.GitVersion)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	seen := &told{}
	stores, err := start(ctx, client, moving, seen)
	if err != nil {
		return err
	}
	fmt.Printf("%d informers are filled, following for %s\n", len(stores), length)
	tick(ctx, length, seen)
	if err := compare(ctx, moving, stores); err != nil {
		return err
	}
	fmt.Printf("%d events, %d errors\n", seen.events.Load(), seen.errors.Load())
	if count := seen.errors.Load(); count > 0 {
		return fmt.Errorf("%d errors of reflectors, see above", count)
	}
	return nil
}

// start runs an informer for each kind and waits until all are filled.
func start(ctx context.Context, client kubernetes.Interface, moving dynamic.Interface, seen *told) (map[schema.GroupVersionResource]cache.SharedIndexInformer, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	dynamics := dynamicinformer.NewDynamicSharedInformerFactory(moving, 0)
	all := map[schema.GroupVersionResource]cache.SharedIndexInformer{}
	for _, kind := range typed {
		generic, err := factory.ForResource(kind)
		if err != nil {
			return nil, err
		}
		all[kind] = generic.Informer()
	}
	for _, kind := range custom {
		if _, err := moving.Resource(kind).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			fmt.Printf("left out %s: %v\n", kind.Resource, err)
			continue
		}
		all[kind] = dynamics.ForResource(kind).Informer()
	}
	var said sync.Mutex
	for kind, informer := range all {
		if err := watch(kind, informer, seen, &said); err != nil {
			return nil, err
		}
	}
	factory.Start(ctx.Done())
	dynamics.Start(ctx.Done())
	for kind, informer := range all {
		wait, cancel := context.WithTimeout(ctx, 30*time.Second)
		isFilled := cache.WaitForCacheSync(wait.Done(), informer.HasSynced)
		cancel()
		if !isFilled {
			return nil, fmt.Errorf("%s: not filled after 30 s", kind.Resource)
		}
	}
	return all, nil
}

// watch counts the events of an informer, and every complaint of its reflector: an expired version or a broken
// stream is one too, since nothing here lasts long enough to excuse it.
func watch(kind schema.GroupVersionResource, informer cache.SharedIndexInformer, seen *told, said *sync.Mutex) error {
	err := informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		seen.errors.Add(1)
		said.Lock()
		defer said.Unlock()
		fmt.Fprintf(os.Stderr, "%s: %v\n", kind.Resource, err)
	})
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { seen.events.Add(1) },
		UpdateFunc: func(any, any) { seen.events.Add(1) },
		DeleteFunc: func(any) { seen.events.Add(1) },
	})
	return err
}

// tick waits for length and says every minute where it stands.
func tick(ctx context.Context, length time.Duration, seen *told) {
	end := time.After(length)
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end:
			return
		case <-minute.C:
			fmt.Printf("%s: %d events, %d errors\n", time.Now().Format(time.TimeOnly), seen.events.Load(), seen.errors.Load())
		}
	}
}

// compare lists each kind once more: the informer has to hold the same objects in the same versions, soon.
func compare(ctx context.Context, moving dynamic.Interface, stores map[schema.GroupVersionResource]cache.SharedIndexInformer) error {
	for kind, informer := range stores {
		var last error
		for try := 0; try < 50; try++ {
			listed, err := moving.Resource(kind).List(ctx, metav1.ListOptions{LabelSelector: labels.Everything().String()})
			if err != nil {
				return err
			}
			if last = same(listed, informer.GetStore()); last == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if last != nil {
			return fmt.Errorf("%s: %w", kind.Resource, last)
		}
	}
	return nil
}

func same(listed *unstructured.UnstructuredList, store cache.Store) error {
	if held := len(store.ListKeys()); held != len(listed.Items) {
		return fmt.Errorf("the informer holds %d objects, a list has %d", held, len(listed.Items))
	}
	for _, object := range listed.Items {
		key := object.GetName()
		if object.GetNamespace() != "" {
			key = object.GetNamespace() + "/" + key
		}
		held, isThere, err := store.GetByKey(key)
		if err != nil {
			return err
		}
		if !isThere {
			return fmt.Errorf("the informer does not hold %s", key)
		}
		meta, isObject := held.(metav1.Object)
		if !isObject {
			return fmt.Errorf("%s is held as %T", key, held)
		}
		if meta.GetResourceVersion() != object.GetResourceVersion() {
			return fmt.Errorf("the informer holds %s at version %s, a list at %s", key, meta.GetResourceVersion(), object.GetResourceVersion())
		}
	}
	return nil
}
