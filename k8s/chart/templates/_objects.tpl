{{- /* The ConfigMaps, by the names that files/ call them by. Values are strings. */}}
{{- define "payments.configMaps" -}}
{{- $v := .Values -}}
{{- $networks := .Files.Get "files/networks.yaml" | fromYaml -}}
{{- $maps := dict -}}
{{- $_ := set $maps "kafka" (dict
  "KAFKA_BROKERS" $v.kafka.brokers
  "KAFKA_PARTITIONS" $v.kafka.partitions
  "KAFKA_REPLICATION" $v.kafka.replication
  "KAFKA_TLS" (ternary "true" "" $v.kafka.tls)
  "KAFKA_SASL_MECHANISM" $v.kafka.saslMechanism
  "KAFKA_OAUTH_TOKEN_URL" $v.kafka.oauth.tokenUrl
  "KAFKA_OAUTH_SCOPE" $v.kafka.oauth.scope
  "AWS_REGION" $v.kafka.region
  "KAFKA_COMPRESSION" $v.kafka.compression) -}}
{{- $_ := set $maps "gateway" (dict "CHECKOUT_URL" $v.hosts.checkout "TRUSTED_PROXIES" $v.trustedProxies) -}}
{{- $_ := set $maps "checkout" (dict "CHECKOUT_URL" $v.hosts.checkout "TRUSTED_PROXIES" $v.trustedProxies) -}}
{{- $_ := set $maps "dashboard" (dict
  "API_URL" $v.hosts.api
  "DASHBOARD_URL" $v.hosts.dashboard
  "MAIL_FROM" $v.mailFrom
  "TRUSTED_PROXIES" $v.trustedProxies) -}}
{{- $_ := set $maps "screening" (ternary (dict "SCREENING_API_URL" $v.screening.url) (dict "SCREENING" "off")
  (ne $v.screening.url "")) -}}
{{- if $v.telemetry.endpoint -}}
{{- /* Prometheus scrapes the metrics, so only traces are sent. */ -}}
{{- $_ := set $maps "telemetry" (dict
  "OTEL_EXPORTER_OTLP_ENDPOINT" $v.telemetry.endpoint
  "OTEL_METRICS_EXPORTER" "none"
  "OTEL_TRACES_SAMPLER" "parentbased_traceidratio"
  "OTEL_TRACES_SAMPLER_ARG" $v.telemetry.samplingRatio
  "OTEL_RESOURCE_ATTRIBUTES" (printf "deployment.environment.name=%s" $v.telemetry.environment)) -}}
{{- end -}}
{{- $_ := set $maps "privacy" (dict
  "SEAL_PERSONAL_DATA" (toString $v.privacy.sealPersonalData)
  "PRIVACY_RETENTION_DAYS" (ternary "" $v.privacy.retentionDays (eq (int $v.privacy.retentionDays) 0))) -}}
{{- if $v.archive.bucket -}}{{- $_ := set $maps "archive" (dict "ARCHIVE_URL" $v.archive.bucket) -}}{{- end -}}
{{- if $v.archive.oldIntents.leaveAfterDays -}}
{{- $_ := set $maps.archive "LEDGER_HOT_DAYS" $v.archive.oldIntents.leaveAfterDays -}}
{{- end -}}
{{- range $network := keys $v.shards -}}
{{- if not (has $network $v.networks) -}}
{{- fail (printf "shards.%s: networks does not have it" $network) -}}
{{- end -}}
{{- end -}}
{{- range $network := $v.networks -}}
{{- range $shard := get $v.shards $network | default (list "1/1") -}}
{{- $name := printf "network-%s%s" $network (include "payments.shardSuffix" $shard) -}}
{{- $_ := set $maps $name (dict
  "NETWORKS" (get $networks $network)
  "WATCH_SHARD" (eq $shard "1/1" | ternary "" $shard)) -}}
{{- end -}}
{{- end -}}
{{- range $map, $more := $v.config -}}
{{- $_ := set $maps $map (merge $more (get $maps $map | default dict)) -}}
{{- end -}}
{{- range $map, $data := $maps -}}
{{- range $key, $value := $data -}}
{{- if eq (toString $value) "" -}}{{- $_ := unset $data $key -}}
{{- else -}}{{- $_ := set $data $key (toString $value) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $maps -}}
{{- end }}

{{- /* What names of the second of four shards end with: `-2-of-4`. */}}
{{- define "payments.shardSuffix" -}}
{{- if ne . "1/1" -}}-{{ . | replace "/" "-of-" }}{{- end -}}
{{- end }}

{{- /* The name of a ConfigMap with a hash of its data, as kustomize makes it: a change replaces the pods. */}}
{{- define "payments.configMapName" -}}
{{- $hash := dict "data" .data "kind" "ConfigMap" "name" "" | toJson | sha256sum | trunc 10 -}}
{{- .name }}-{{ $hash | replace "0" "g" | replace "1" "h" | replace "3" "k" | replace "a" "m" | replace "e" "t" -}}
{{- end }}

{{- /* An object of files/ with the site's values. Takes `root`, `text`, `configMaps` and, of a watcher, `network` and
  `shard`. */}}
{{- define "payments.object" -}}
{{- $v := .root.Values -}}
{{- $network := .network | default "" -}}
{{- $shard := include "payments.shardSuffix" (.shard | default "1/1") -}}
{{- $image := printf "%s:%s" $v.image.repository ($v.image.tag | default .root.Chart.AppVersion) -}}
{{- if $v.image.digest -}}{{- $image = printf "%s@%s" $v.image.repository $v.image.digest -}}{{- end -}}
{{- $text := .text
  | replace "image: payment-intents\n" (printf "image: %s\n" (quote $image))
  | replace "kubernetes.io/metadata.name: ingress\n"
    (printf "kubernetes.io/metadata.name: %s\n" (quote $v.access.ingressNamespace))
  | replace "kubernetes.io/metadata.name: monitoring\n"
    (printf "kubernetes.io/metadata.name: %s\n" (quote $v.access.monitoringNamespace))
  | replace "strimzi.io/cluster: pf\n" (printf "strimzi.io/cluster: %s\n" (quote $v.strimzi.cluster)) -}}
{{- $object := fromYaml $text -}}
{{- if hasKey $object "Error" -}}{{- fail (printf "%s in:\n%s" $object.Error $text) -}}{{- end -}}
{{- $metadata := $object.metadata -}}
{{- $service := get $v.services $metadata.name | default dict -}}
{{- $replicas := $service.replicas | default dict -}}
{{- $_ := set $metadata "labels"
  (merge (dict "app.kubernetes.io/part-of" "payments") ($metadata.labels | default dict)) -}}
{{- if eq $object.kind "Namespace" -}}{{- $_ := set $metadata "name" .root.Release.Namespace -}}
{{- else -}}{{- $_ := set $metadata "namespace" .root.Release.Namespace -}}{{- end -}}

{{- if has $object.kind (list "Deployment" "StatefulSet") -}}
{{- $template := $object.spec.template -}}
{{- $pod := $template.spec -}}
{{- if $network -}}
{{- $_ := set $metadata "name" (printf "%s-%s%s" $metadata.name $network $shard) -}}
{{- $own := dict "payments/network" $network -}}
{{- if $shard -}}{{- $_ := set $own "payments/shard" (trimPrefix "-" $shard) -}}{{- end -}}
{{- $_ := merge $metadata.labels $own -}}
{{- $_ := merge $template.metadata.labels $own -}}
{{- $_ := merge $object.spec.selector.matchLabels $own -}}
{{- range $pod.topologySpreadConstraints -}}
{{- $_ := merge .labelSelector.matchLabels $own -}}
{{- end -}}
{{- end -}}
{{- if or $network (and (eq $metadata.name "webhook") (not $v.keda.enabled))
  (and (has $metadata.name (list "gateway" "intent" "dashboard" "checkout")) (not $v.scaling.enabled)) -}}
{{- $_ := set $object.spec "replicas" $replicas.min -}}
{{- end -}}
{{- if $pod.topologySpreadConstraints -}}
{{- $_ := set (first $pod.topologySpreadConstraints) "whenUnsatisfiable" $v.spreadOverZones -}}
{{- end -}}
{{- if $service.resources -}}{{- $_ := set (first $pod.containers) "resources" $service.resources -}}{{- end -}}
{{- range $key := list "nodeSelector" "tolerations" "priorityClassName" -}}
{{- with get $v.pods $key -}}{{- $_ := set $pod $key . -}}{{- end -}}
{{- end -}}
{{- if $v.image.pullSecrets -}}
{{- $secrets := list -}}
{{- range $v.image.pullSecrets -}}{{- $secrets = append $secrets (dict "name" .) -}}{{- end -}}
{{- $_ := set $pod "imagePullSecrets" $secrets -}}
{{- end -}}

{{- if and (get $template.metadata.labels "payments/uses-kafka")
  (has $v.kafka.saslMechanism (list "oauthbearer" "aws-msk-iam")) -}}
{{- $_ := set $template.metadata.labels "payments/uses-https" "true" -}}
{{- end -}}

{{- if eq $metadata.name "archive" -}}
{{- if $v.archive.bucket -}}
{{- $container := first $pod.containers -}}
{{- range $container.env -}}
{{- if eq .name "ARCHIVE_URL" -}}
{{- $_ := unset . "value" -}}
{{- $_ := set . "valueFrom" (dict "configMapKeyRef" (dict "name" "archive" "key" "ARCHIVE_URL")) -}}
{{- end -}}
{{- end -}}
{{- $mounts := list -}}
{{- range $container.volumeMounts -}}
{{- if ne .name "archive" -}}{{- $mounts = append $mounts . -}}{{- end -}}
{{- end -}}
{{- $_ := set $container "volumeMounts" $mounts -}}
{{- $_ := unset $object.spec "volumeClaimTemplates" -}}
{{- $_ := set $template.metadata.labels "payments/uses-https" "true" -}}
{{- else -}}
{{- $claim := first $object.spec.volumeClaimTemplates -}}
{{- $_ := set $claim.spec.resources.requests "storage" $v.archive.storage -}}
{{- with $v.archive.storageClass -}}{{- $_ := set $claim.spec "storageClassName" . -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- if $v.privateCa.enabled -}}
{{- $volume := dict "name" "kafka-ca" "configMap" (dict "name" $v.privateCa.configMap) -}}
{{- $_ := set $pod "volumes" (append ($pod.volumes | default list) $volume) -}}
{{- /* The container that idles beside init containers connects to nothing. */ -}}
{{- range $pod.initContainers | default $pod.containers -}}
{{- $mount := dict "name" "kafka-ca" "mountPath" "/etc/kafka-ca" "readOnly" true -}}
{{- $_ := set . "volumeMounts" (append (.volumeMounts | default list) $mount) -}}
{{- $variable := dict "name" "NODE_EXTRA_CA_CERTS" "value" "/etc/kafka-ca/ca.crt" -}}
{{- $_ := set . "env" (append (.env | default list) $variable) -}}
{{- end -}}
{{- end -}}

{{- if and $v.archive.oldIntents.served (has $metadata.name (list "gateway" "intent")) -}}
{{- $_ := set $template.metadata.labels "payments/uses-https" "true" -}}
{{- $url := dict "name" "archive" "key" "ARCHIVE_URL" -}}
{{- $added := list (dict "name" "ARCHIVE_URL" "valueFrom" (dict "configMapKeyRef" $url)) -}}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" -}}
{{- $key := dict "name" "archive" "key" . "optional" true -}}
{{- $added = append $added (dict "name" . "valueFrom" (dict "secretKeyRef" $key)) -}}
{{- end -}}
{{- if eq $metadata.name "intent" -}}
{{- $days := dict "name" "archive" "key" "LEDGER_HOT_DAYS" "optional" true -}}
{{- $added = append $added (dict "name" "LEDGER_HOT_DAYS" "valueFrom" (dict "configMapKeyRef" $days)) -}}
{{- end -}}
{{- $container := first $pod.containers -}}
{{- $_ := set $container "env" (concat $container.env $added) -}}
{{- end -}}

{{- range $container := concat ($pod.initContainers | default list) $pod.containers -}}

{{- range concat ($container.envFrom | default list) ($container.env | default list) -}}
{{- $from := .valueFrom | default . -}}
{{- with $from.configMapRef | default $from.configMapKeyRef -}}
{{- $map := eq .name "network" | ternary (printf "network-%s%s" $network $shard) .name -}}
{{- with get $.configMaps $map -}}
{{- $map = include "payments.configMapName" (dict "name" $map "data" .) -}}
{{- end -}}
{{- $_ := set . "name" $map -}}
{{- end -}}
{{- with $from.secretRef | default $from.secretKeyRef -}}
{{- if eq .name "observation-keys" -}}
{{- $_ := set . "key" (printf "KEY_%s" ($network | upper | replace "-" "_")) -}}
{{- end -}}
{{- $_ := set . "name" (get $v.secretNames .name | default .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- else if and (eq $object.kind "NetworkPolicy") (eq $metadata.name "dns") $v.access.dns.cidrs -}}
{{- $rule := first $object.spec.egress -}}
{{- $peers := list -}}
{{- range $rule.to -}}{{- if not .ipBlock -}}{{- $peers = append $peers . -}}{{- end -}}{{- end -}}
{{- range $v.access.dns.cidrs -}}{{- $peers = append $peers (dict "ipBlock" (dict "cidr" .)) -}}{{- end -}}
{{- $_ := set $rule "to" $peers -}}
{{- else if eq $object.kind "ServiceAccount" -}}
{{- with $service.serviceAccountAnnotations -}}{{- $_ := set $metadata "annotations" . -}}{{- end -}}
{{- else if eq $object.kind "HorizontalPodAutoscaler" -}}
{{- $_ := set $object.spec "minReplicas" $replicas.min -}}
{{- $_ := set $object.spec "maxReplicas" $replicas.max -}}
{{- else if eq $object.kind "ScaledObject" -}}
{{- $_ := set $object.spec "minReplicaCount" $replicas.min -}}
{{- $_ := set $object.spec "maxReplicaCount" $replicas.max -}}
{{- else if eq $object.kind "TriggerAuthentication" -}}
{{- range $object.spec.secretTargetRef -}}
{{- $_ := set . "name" (get $v.secretNames .name | default .name) -}}
{{- end -}}
{{- else if eq $object.kind "KafkaTopic" -}}
{{- $_ := set $object.spec "partitions" $v.kafka.partitions -}}
{{- $_ := set $object.spec "replicas" $v.kafka.replication -}}
{{- else if eq $object.kind "ExternalSecret" -}}
{{- $_ := set $object.spec "refreshInterval" $v.externalSecrets.refreshInterval -}}
{{- $_ := set $object.spec "secretStoreRef" $v.externalSecrets.store -}}
{{- $target := $object.spec.target -}}
{{- $_ := set $target "name" (get $v.secretNames $target.name | default $target.name) -}}
{{- range $object.spec.data -}}
{{- $_ := set .remoteRef "key" (printf "%s%s" $v.externalSecrets.prefix (trimPrefix "payments/" .remoteRef.key)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $object -}}
{{- end }}
